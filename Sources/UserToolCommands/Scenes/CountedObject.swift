import Synchronization

/// A member of each object in a scene, which counts the objects: when the scene is over, none must be left.
final class CountedObject: Sendable {
  private static let counter = Atomic<Int>(0)

  static var count: Int { counter.load(ordering: .relaxed) }

  init() { Self.counter.wrappingAdd(1, ordering: .relaxed) }
  deinit { Self.counter.wrappingSubtract(1, ordering: .relaxed) }
}
