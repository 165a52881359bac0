/// A delivery that has a place in the order of all deliveries.
@usableFromInline protocol Positioned: Sendable {
  /// The place in the order of all deliveries: strictly increasing, and wide enough for all revisions of any number of logs.
  var position: Int128 { get }

  /// The part of the delivery that a state that was read at `position` does not include; nil if there is none.
  ///
  /// A state is read between two transactions, and a delivery may contain both: then the state includes the first part only.
  func dropping(through position: Int128) -> Self?
}

/// The content of a round, which can be divided among topics.
@usableFromInline protocol Routable: Positioned {
  associatedtype Topic: Hashable, Sendable
  associatedtype Action: ListenerAction<Self>

  /// A value, which the hub may keep, or a failure; nil if the round has neither.
  var outcome: Result<ErasedValue, any Error>? { get }

  /// Divides the content among topics; called before all listeners of the round, on the delivering thread, under no lock.
  ///
  /// - Parameter bound: The topics that have listeners; parts for other topics are not used.
  /// - Returns: Each topic once, with its part, in any order; nil if all listeners receive the whole content.
  func parts(for bound: BoundTopics<Topic>) -> [(topic: Topic, part: Self)]?
}

extension Routable {
  @usableFromInline var outcome: Result<ErasedValue, any Error>? { nil }

  /// The content, which cannot be divided, unless `position` is after it.
  @usableFromInline func dropping(through position: Int128) -> Self? { self.position > position ? self : nil }
}

/// A closure that receives the content of rounds.
///
/// Each type of content has its own. If a hub stored closures that take its generic content, each would need a thunk: 50
/// instructions more for a call, and 540 more for a binding.
@usableFromInline protocol ListenerAction<Content>: Sendable {
  associatedtype Content

  init(_ body: @escaping @Sendable (Content) throws -> Void)
  func callAsFunction(_ content: Content) throws
}

/// The topics that had listeners when a round began.
@usableFromInline struct BoundTopics<Topic: Hashable & Sendable> {
  let lists: [Topic: TopicList]

  func contains(_ topic: Topic) -> Bool { lists.index(forKey: topic) != nil }

  var all: [Topic] { Array(lists.keys) }
}
