import Foundation
import OpenCombine
import UserStore

/// Listeners that are bound, replaced, and unbound.
enum HubChurn {
  private static let count = 10_000
  private static let names = (0..<count).map(HubDelivery.listenerName)

  static func cases(_ effort: Effort) -> [Case] {
    [
      Case(
        name: "hub/churn/bind-unbind", operation: "10,000 listeners bound, then all of them unbound, one by one",
        contenders: [
          listenable, storeHub, storeHubTopics, signal, observers, openCombine, notificationCenter,
        ]),
      Case(
        name: "hub/churn/rebind", operation: "each of 10,000 names bound again",
        contenders: [listenableAgain, storeHubAgain, openCombineAgain, notificationCenterAgain]),
    ]
  }

  // MARK: Bind, unbind

  private static let listenable = Contender(name: "UserStore Listenable") { _ in
    let (source, listenable) = Listenable.make(0)
    return .passes { passes in
      for _ in 0..<passes {
        for name in names { listenable.bind(name) { _ in } }
        for name in names { listenable.unbind(name) }
      }
      withExtendedLifetime(source) {}
    }
  }

  private static let storeHub = Contender(name: "UserStore hub, one topic") { _ in
    let store = try UserStore.inMemory()
    return .passes { passes in
      for _ in 0..<passes {
        for name in names { store.listeners.bind(name, to: .everything) { _ in } }
        for name in names { store.listeners.unbind(name, from: .everything) }
      }
    }
  }

  private static let storeHubTopics = Contender(name: "UserStore hub, 10,000 topics") { _ in
    let store = try UserStore.inMemory()
    let topics = (1...count).map { UserStore.Topic.attribute(.name, of: UserStore.User.ID(Int64($0))) }
    return .passes { passes in
      for _ in 0..<passes {
        for topic in topics { store.listeners.bind("screen", to: topic) { _ in } }
        for topic in topics { store.listeners.unbind("screen", from: topic) }
      }
    }
  }

  private static let signal = Contender(name: "UserStore Signal") { _ in
    let (source, signal) = Signal<Int>.make()
    return .passes { passes in
      for _ in 0..<passes {
        let tokens = names.map { _ in signal.subscribe { _ in } }
        for token in tokens { token.dispose() }
      }
      withExtendedLifetime(source) {}
    }
  }

  private static let observers = Contender(name: "UserStore Observers") { _ in
    let (source, observers) = Observers<HubDelivery.Handler>.make()
    return .passes { passes in
      for _ in 0..<passes {
        let tokens = names.map { _ in observers.add(HubDelivery.Handler { _ in }) }
        for token in tokens { observers.remove(token) }
      }
      withExtendedLifetime(source) {}
    }
  }

  private static let openCombine = Contender(name: "OpenCombine PassthroughSubject + sink") { _ in
    let subject = PassthroughSubject<Int, Never>()
    return .passes { passes in
      for _ in 0..<passes {
        let tokens = names.map { _ in subject.sink { _ in } }
        for token in tokens { token.cancel() }
      }
    }
  }

  private static let notificationCenter = Contender(name: "NotificationCenter, blocks") { _ in
    let center = NotificationCenter()
    return .passes { passes in
      for _ in 0..<passes {
        let tokens = names.map { _ in observe(center) }
        for token in tokens { center.removeObserver(token) }
      }
    }
  }

  // MARK: Bind again

  private static let listenableAgain = Contender(name: "UserStore Listenable") { _ in
    let (source, listenable) = Listenable.make(0)
    return .passes { passes in
      for _ in 0..<passes { for name in names { listenable.bind(name) { _ in } } }
      withExtendedLifetime(source) {}
    }
  }

  private static let storeHubAgain = Contender(name: "UserStore hub, one topic") { _ in
    let store = try UserStore.inMemory()
    return .passes { passes in
      for _ in 0..<passes { for name in names { store.listeners.bind(name, to: .everything) { _ in } } }
    }
  }

  /// A library without names needs a dictionary of tokens.
  private static let openCombineAgain = Contender(name: "OpenCombine sinks in a dictionary") { _ in
    let subject = PassthroughSubject<Int, Never>()
    var tokens: [String: AnyCancellable] = [:]
    return .passes { passes in
      for _ in 0..<passes { for name in names { tokens[name] = subject.sink { _ in } } }
    }
  }

  private static let notificationCenterAgain = Contender(name: "NotificationCenter blocks in a dictionary") { _ in
    let center = NotificationCenter()
    var tokens: [String: any NSObjectProtocol] = [:]
    return .passes { passes in
      for _ in 0..<passes {
        for name in names {
          if let token = tokens[name] { center.removeObserver(token) }
          tokens[name] = observe(center)
        }
      }
    }
  }

  private static func observe(_ center: NotificationCenter) -> any NSObjectProtocol {
    center.addObserver(forName: Notification.Name("name"), object: nil, queue: nil) { _ in }
  }
}
