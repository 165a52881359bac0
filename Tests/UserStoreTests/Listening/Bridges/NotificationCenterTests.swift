import Foundation
import Testing
import UserStoreFoundation

@testable import UserStore

@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct NotificationCenterTests {
  private let center = NotificationCenter()
  private let received = Recorder<String>()

  /// Observes the notifications until the token is released.
  private func observe(
    _ object: UserStore? = nil, _ action: @escaping @Sendable (ChangeSet) -> Void = { _ in }
  ) -> SubscriptionToken {
    let observer = Lock(
      center.addObserver(forName: .userStoreDidChange, object: object, queue: nil) { [received] notification in
        guard let set = notification.changeSet else { return }
        received.record(set.lines.joined(separator: ", "))
        action(set)
      })
    return SubscriptionToken { [center] in observer.withLock { center.removeObserver($0) } }
  }

  @Test func `A1, changes are posted by name, in order, before write returns, with the store and the set`() throws {
    let store = try UserStore.forTests()
    let other = try UserStore.forTests()
    let observer = observe(store)
    let tokens = [store.post(to: center), other.post(to: center)]
    let id = try store.write { try $0.add(name: "NIX") }
    _ = try other.write { try $0.add(name: "of another store") }
    #expect(received.count == 1)
    try store.write { try $0.rename(id, to: "Zoë") }
    try store.write { try $0.rename(id, to: "Zoe") }
    #expect(received.all[1...] == ["updated 1 name 'NIX' 'Zoë'", "updated 1 name 'Zoë' 'Zoe'"])
    withExtendedLifetime((observer, tokens)) {}
  }

  @Test func `A1, only changes of the topic are posted, until the token is released`() throws {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "NIX") }
    let observer = observe()
    var token: SubscriptionToken? = store.post(to: center, of: .attribute(.name, of: id))
    try store.write {
      try $0.rename(id, to: "Zoë")
      try $0.set(.hairColor, of: id, to: Color("white"))
    }
    try store.write { try $0.set(.hairColor, of: id, to: nil) }
    #expect(received.all == ["updated 1 name 'NIX' 'Zoë'"])
    token = nil
    try store.write { try $0.rename(id, to: "Zoe") }
    #expect(received.count == 1 && token == nil)
    #expect(store.listeners.count == 0)
    withExtendedLifetime(observer) {}
  }

  @Test func `A1, an observer may write, and on the main actor all notifications are in commit order`() async throws {
    let store = try UserStore.forTests()
    let id = try await store.write { try $0.add(name: "0") }
    let observer = observe { set in
      guard set.revision.rawValue < 30 else { return }
      _ = try? store.write { try $0.rename(id, to: "\(set.revision)") }
    }
    let order = Recorder<Revision>()
    let main = NotificationCenter()
    let mainObserver = Lock(
      main.addObserver(forName: .userStoreDidChange, object: nil, queue: nil) { notification in
        MainActor.assertIsolated()
        if let set = notification.changeSet { order.record(set.revision) }
      })
    let tokens = [store.post(to: center), store.post(to: main, on: .actor(MainActor.shared))]
    try await store.write { try $0.rename(id, to: "first") }
    let count = received.count
    await order.reached(count)
    #expect(count > 5 && order.all == order.all.sorted() && order.count == count)
    withExtendedLifetime((observer, tokens)) {}
    mainObserver.withLock { main.removeObserver($0) }
  }

  @Test func `posting does not hold the store, nor the center after the token is released`() throws {
    var center: NotificationCenter? = NotificationCenter()
    weak let keptCenter = center
    var store: UserStore? = try UserStore.forTests()
    weak let keptStore = store
    var token = store?.post(to: center!)
    center = nil
    #expect(keptCenter != nil && token != nil)
    token = nil
    #expect(keptCenter == nil)
    token = store?.post(to: NotificationCenter())
    store = nil
    #expect(keptStore == nil)
  }

  @Test func `notifications are a signal while there is a subscription`() {
    let name = Notification.Name("typed")
    let calls = Recorder<String?>()
    let signal = center.signal(for: name) { notification in
      calls.record(notification.userInfo?["text"] as? String)
      return calls.all.last ?? nil
    }
    var token: SubscriptionToken? = signal.map { $0.uppercased() }.subscribe { [received] in received.record($0) }
    center.post(name: name, object: nil, userInfo: ["text": "a"])
    center.post(name: name, object: nil)
    center.post(name: .init("other"), object: nil, userInfo: ["text": "b"])
    center.post(name: name, object: nil, userInfo: ["text": "c"])
    token = nil
    center.post(name: name, object: nil, userInfo: ["text": "d"])
    #expect(received.all == ["A", "C"] && token == nil)
    #expect(calls.all == ["a", nil, "c"], "the center does not call what was disposed")
  }
}
