/// What a hub delivers in one round, and how it divides among topics.
@usableFromInline protocol Routable: Sendable {
  /// What a listener can listen to.
  associatedtype Topic: Hashable, Sendable

  /// Where this stands in the order of all rounds; strictly increasing.
  ///
  /// So wide that no number of logs that follow each other, each with all the revisions that it may have, fills it.
  var position: Int128 { get }

  /// The part of this for each topic that has one, each topic once.
  ///
  /// Called before any listener of the round, on the thread that delivers, under no lock.
  ///
  /// - Parameter bound: The topics that anybody listens to; parts for others would be thrown away.
  /// - Returns: Topics with their parts, in any order; nil when everybody gets all of this.
  func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: Self)]?
}

/// The topics that somebody listened to when a round began.
@usableFromInline struct BoundTopics<Topic: Hashable & Sendable> {
  let lists: [Topic: TopicList]

  /// Whether anybody listened to a topic.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: true when a part for it will be used.
  func contains(_ topic: Topic) -> Bool { lists.index(forKey: topic) != nil }

  /// All of them, in no order.
  var all: [Topic] { Array(lists.keys) }
}
