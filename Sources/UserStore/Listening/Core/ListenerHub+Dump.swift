/// A listener as a dump shows it.
struct ListenerSnapshot<Topic: Hashable & Sendable>: Sendable {
  /// Its name; nil for one that is held by its token.
  let name: String?
  /// What it listens to.
  let topic: Topic
  /// How often it was called, those before it was replaced included.
  let calls: Int
  /// The position of the last round that it heard; nil before the first.
  let lastPosition: Int128?
}

extension ListenerHub {
  /// How many listeners there are, those whose owner is gone not counted.
  var count: Int { all.count }

  /// The names in the order of calls.
  var names: [String] { all.compactMap(\.name) }

  /// All listeners in the order of calls, for tests and for display; none when the hub has ended.
  var all: [ListenerSnapshot<Topic>] {
    removeOver()
    // Those of an actor stay until they have heard there what came before the end.
    let slots = state.withLock { $0.isOver ? [] : $0.registry.inOrder.map(\.slot) }
    return slots.filter { !$0.listener.keepsValue }.map {
      ListenerSnapshot(
        name: $0.listener.name, topic: $0.listener.topic, calls: $0.calls, lastPosition: $0.lastPosition)
    }
  }

  /// The names that are bound to a topic, in the order of calls.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: the names; listeners without one are left out.
  func names(of topic: Topic) -> [String] {
    all.filter { $0.topic == topic }.compactMap(\.name)
  }
}
