import Synchronization

/// Counts the objects of a scene, each of which holds one of these: when the scene is over, none is left.
final class Living: Sendable {
  private static let counter = Atomic<Int>(0)

  static var count: Int { counter.load(ordering: .relaxed) }

  init() { Self.counter.wrappingAdd(1, ordering: .relaxed) }
  deinit { Self.counter.wrappingSubtract(1, ordering: .relaxed) }
}
