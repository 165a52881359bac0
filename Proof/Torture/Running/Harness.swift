/// One way of using force.
protocol Harness {
  static var name: String { get }

  /// Uses it, and reports what was done and what was found.
  ///
  /// - Throws: when it cannot be used at all; a broken promise is reported, not thrown.
  static func run(_ plan: Plan, _ report: inout Report) throws
}

/// How much of it.
struct Plan {
  let isLong: Bool
  let seed: UInt64
}
