import CFloor
import Foundation
import OpenCombine
import UserStore

/// The memory of a listener: the growth of the heap when it is bound, including its closure and token.
enum HubMemory {
  private static let count = 10_000

  static func cases(_ effort: Effort) -> [Case] {
    [
      Case(
        name: "hub/memory", operation: "heap of one of 10,000 listeners, including its closure and its token",
        operationsPerPass: count,
        contenders: [listenable, storeHubTopics, signal, openCombine, notificationCenter])
    ]
  }

  private static let listenable = Contender(name: "UserStore Listenable, named") { _ in
    .bytes {
      let (source, listenable) = Listenable.make(0)
      defer { withExtendedLifetime(source) {} }
      return growth { listenable.bind(HubDelivery.listenerName($0), closure()) }
    }
  }

  private static let storeHubTopics = Contender(name: "UserStore hub, named, each with its own topic") { _ in
    .bytes {
      let store = try UserStore.inMemory()
      return growth { index in
        let act = closure()
        return store.listeners.bind("screen", to: .attribute(.name, of: UserStore.User.ID(Int64(index)))) { _ in act(0)
        }
      }
    }
  }

  private static let signal = Contender(name: "UserStore Signal") { _ in
    .bytes {
      let (source, signal) = Signal<Int>.make()
      defer { withExtendedLifetime(source) {} }
      return growth { _ in signal.subscribe(closure()) }
    }
  }

  private static let openCombine = Contender(name: "OpenCombine PassthroughSubject + sink") { _ in
    .bytes {
      let subject = PassthroughSubject<Int, Never>()
      return growth { _ in subject.sink(receiveValue: closure()) }
    }
  }

  private static let notificationCenter = Contender(name: "NotificationCenter, blocks") { _ in
    .bytes {
      let center = NotificationCenter()
      return growth { _ in
        let act = closure()
        return center.addObserver(forName: Notification.Name("name"), object: nil, queue: nil) { _ in act(0) }
      }
    }
  }

  /// The growth of the heap by calls of `bind` and the tokens that it returns, without the array of tokens.
  private static func growth<Token>(_ bind: (Int) -> Token) -> Double {
    var tokens: [Token] = []
    tokens.reserveCapacity(count)
    let before = floor_heap_bytes()
    for index in 0..<count { tokens.append(bind(index)) }
    let after = floor_heap_bytes()
    withExtendedLifetime(tokens) {}
    return Double(after - before)
  }

  /// A closure with a context of its own.
  private static func closure() -> @Sendable (Int) -> Void {
    let tally = sharedTally
    return { _ in tally.add() }
  }

  private static let sharedTally = Tally()
}
