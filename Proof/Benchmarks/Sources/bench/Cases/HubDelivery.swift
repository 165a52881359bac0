import Foundation
import OpenCombine
import UserStore

/// The cost of a call of a listener, without a database.
enum HubDelivery {
  static func cases(_ effort: Effort) -> [Case] {
    [1, 10, 100, 1_000].map { listeners in
      Case(
        name: "hub/delivery/\(listeners)", operation: "one call of one of \(listeners) listeners",
        operationsPerPass: listeners,
        contenders: [
          listenable(listeners), signal(listeners), observers(listeners), store(listeners), openCombine(listeners),
          notificationCenter(listeners), closures(listeners),
        ])
    }
  }

  private static func listenable(_ listeners: Int) -> Contender {
    Contender(name: "UserStore Listenable") { _ in
      let tally = Tally()
      let (source, listenable) = Listenable.make(0)
      for index in 0..<listeners { listenable.bind(listenerName(index)) { _ in tally.add() } }
      return .passes { count in
        try tally.expect(count * listeners) { for value in 0..<count { source.send(value) } }
        withExtendedLifetime(listenable) {}
      }
    }
  }

  private static func signal(_ listeners: Int) -> Contender {
    Contender(name: "UserStore Signal") { _ in
      let tally = Tally()
      let (source, signal) = Signal<Int>.make()
      let tokens = (0..<listeners).map { _ in signal.subscribe { _ in tally.add() } }
      return .passes { count in
        try tally.expect(count * listeners) { for value in 0..<count { source.send(value) } }
        withExtendedLifetime(tokens) {}
      }
    }
  }

  private static func observers(_ listeners: Int) -> Contender {
    Contender(name: "UserStore Observers") { _ in
      let tally = Tally()
      let (source, observers) = Observers<Handler>.make()
      let tokens = (0..<listeners).map { _ in observers.add(Handler { _ in tally.add() }) }
      return .passes { count in
        try tally.expect(count * listeners) { for value in 0..<count { source.send(value) } }
        withExtendedLifetime((observers, tokens)) {}
      }
    }
  }

  /// Each round includes a write in memory, which is a large share of a call if there are few listeners.
  private static func store(_ listeners: Int) -> Contender {
    Contender(name: "UserStore hub of a store in memory (with the write)") { _ in
      let tally = Tally()
      let store = try UserStore.inMemory()
      let user = try store.write { try $0.add(name: "NIX") }
      let topic = UserStore.Topic.attribute(.name, of: user)
      for index in 0..<listeners { store.listeners.bind(listenerName(index), to: topic) { _ in tally.add() } }
      var names = Names()
      return .passes { count in
        try tally.expect(count * listeners) {
          for _ in 0..<count { try store.write { try $0.rename(user, to: names.next()) } }
        }
      }
    }
  }

  private static func openCombine(_ listeners: Int) -> Contender {
    Contender(name: "OpenCombine PassthroughSubject + sink") { _ in
      let tally = Tally()
      let subject = PassthroughSubject<Int, Never>()
      let tokens = (0..<listeners).map { _ in subject.sink { _ in tally.add() } }
      return .passes { count in
        try tally.expect(count * listeners) { for value in 0..<count { subject.send(value) } }
        withExtendedLifetime(tokens) {}
      }
    }
  }

  private static func notificationCenter(_ listeners: Int) -> Contender {
    Contender(name: "NotificationCenter, blocks") { _ in
      let tally = Tally()
      let center = NotificationCenter()
      let name = Notification.Name("name")
      let tokens = (0..<listeners).map { _ in
        center.addObserver(forName: name, object: nil, queue: nil) { _ in tally.add() }
      }
      return .passes { count in
        try tally.expect(count * listeners) {
          for value in 0..<count { center.post(name: name, object: nil, userInfo: ["value": value]) }
        }
        withExtendedLifetime(tokens) {}
      }
    }
  }

  private static func closures(_ listeners: Int) -> Contender {
    Contender(name: "floor: an array of closures") { _ in
      let tally = Tally()
      let closures = (0..<listeners).map { _ in { (_: Int) in tally.add() } }
      return .passes { count in
        try tally.expect(count * listeners) {
          for value in 0..<count { for closure in closures { closure(value) } }
        }
      }
    }
  }

  /// A name of at most 15 bytes, which a `String` stores without the heap.
  static func listenerName(_ index: Int) -> String { "listener \(index)" }

  struct Handler: NotificationHandler {
    let handler: @Sendable (Int) -> Void

    init(_ handler: @escaping @Sendable (Int) -> Void) { self.handler = handler }

    func handle(_ notification: Int) { handler(notification) }
  }
}
