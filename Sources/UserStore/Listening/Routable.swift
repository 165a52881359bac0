/// What a hub delivers in one round, and how it divides among topics.
public protocol Routable: Sendable {
  /// What a listener can listen to.
  associatedtype Topic: Hashable, Sendable
  /// What a slow consumer is told of those that it missed.
  associatedtype Missed: MissedSummary<Self> = MissedRounds<Self>

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
public struct BoundTopics<Topic: Hashable & Sendable> {
  let lists: [Topic: TopicList]

  /// Whether anybody listened to a topic.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: true when a part for it will be used.
  public func contains(_ topic: Topic) -> Bool { lists.index(forKey: topic) != nil }

  /// All of them, in no order.
  public var all: [Topic] { Array(lists.keys) }
}
