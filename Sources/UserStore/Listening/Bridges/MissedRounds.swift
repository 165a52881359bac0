/// What a slow consumer is told of the rounds that it missed: gathered while they are dropped.
public protocol MissedSummary<Content>: Sendable {
  /// What was dropped.
  associatedtype Content

  /// Begins with the first one that is dropped.
  ///
  /// - Parameter first: Dropped after this.
  init(_ first: Content)

  /// Adds the one that is dropped after those.
  ///
  /// - Parameter next: Dropped after this.
  mutating func add(_ next: Content)
}

/// Which rounds were missed, by their positions.
public struct MissedRounds<Content: Routable>: MissedSummary {
  /// The position of the first one.
  public let first: Int128
  /// The position of the last one.
  public private(set) var last: Int128
  /// How many.
  public private(set) var count = 1

  /// Begins with the first one.
  public init(_ first: Content) {
    self.first = first.position
    last = first.position
  }

  /// Adds one.
  public mutating func add(_ next: Content) {
    last = next.position
    count += 1
  }
}
