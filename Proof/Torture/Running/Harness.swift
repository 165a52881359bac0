/// A way to break something.
protocol Harness {
  static var name: String { get }

  /// Runs the harness and reports what it did and found.
  ///
  /// - Throws: If the harness cannot run at all. A broken promise is reported, not thrown.
  static func run(_ plan: Plan, _ report: inout Report) throws
}

/// The extent of a run, and its seed.
struct Plan {
  let isLong: Bool
  let seed: UInt64
}
