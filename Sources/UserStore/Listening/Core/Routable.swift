/// The content of a round, and its division among topics.
@usableFromInline protocol Routable: Sendable {
  /// The type of topics that listeners are bound to.
  associatedtype Topic: Hashable, Sendable
  /// The closure of a listener.
  associatedtype Action: ListenerAction<Self>

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

/// A closure that receives the content of rounds.
///
/// Each type of content has a type of its own for it. If a hub stored closures that take its generic content, each would need a
/// thunk: 50 instructions more in a call, and 540 more in a binding.
@usableFromInline protocol ListenerAction<Content>: Sendable {
  associatedtype Content

  init(_ body: @escaping @Sendable (Content) throws -> Void)
  func callAsFunction(_ content: Content) throws
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
