/// A listener of a hub, for tests and for display.
struct ListenerSnapshot<Topic: Hashable & Sendable>: Sendable {
  /// The listener's name; nil for a listener that is held by its token.
  let name: String?
  /// The topic that it is bound to.
  let topic: Topic
  /// The number of calls so far, including those of listeners that had the name before.
  let calls: Int
  /// The position of the last round that it was called in; nil before the first.
  let lastPosition: Int128?
}

extension ListenerHub {
  /// The number of listeners; those whose owner was released are not counted.
  var count: Int { all.count }

  /// The names of all listeners, in the order of calls.
  var names: [String] { all.compactMap(\.name) }

  /// All listeners in the order of calls; none after the hub has ended.
  var all: [ListenerSnapshot<Topic>] {
    removeOver()
    // Listeners on an actor stay in the table until they have received there what came before the end.
    let slots = state.withLock { $0.isOver ? [] : $0.registry.inOrder.map(\.slot) }
    return slots.filter { !$0.listener.keepsValue }.map {
      ListenerSnapshot(
        name: $0.listener.name, topic: $0.listener.topic, calls: $0.calls, lastPosition: $0.lastPosition)
    }
  }

  /// The names that are bound to a topic, in the order of calls.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: the names; listeners without a name are left out.
  func names(of topic: Topic) -> [String] {
    all.filter { $0.topic == topic }.compactMap(\.name)
  }
}
