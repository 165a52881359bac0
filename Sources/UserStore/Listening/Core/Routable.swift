/// The content of a round, and its division among topics.
@usableFromInline protocol Routable: Sendable {
  /// What a listener can be bound to.
  associatedtype Topic: Hashable, Sendable

  /// The place in the order of all rounds; strictly increasing.
  ///
  /// It is wide enough for all revisions of any number of logs that follow each other.
  var position: Int128 { get }

  /// Divides the content among topics, each topic once.
  ///
  /// Called before all listeners of the round, on the thread that delivers, under no lock.
  ///
  /// - Parameter bound: The topics that have listeners; parts for other topics would be thrown away.
  /// - Returns: topics with their parts, in any order; nil when all listeners receive the whole content.
  func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: Self)]?
}

/// The topics that had listeners when a round began.
@usableFromInline struct BoundTopics<Topic: Hashable & Sendable> {
  let lists: [Topic: TopicList]

  /// Whether a topic has listeners.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: whether a part for it will be delivered.
  func contains(_ topic: Topic) -> Bool { lists.index(forKey: topic) != nil }

  /// All of them, in no order.
  var all: [Topic] { Array(lists.keys) }
}
