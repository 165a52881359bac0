import Foundation

/// Where the random tests of this run begin: another place each time, unless USERSTORE_SEED says which.
package enum Seed {
  package static let base: UInt64 = {
    let given = ProcessInfo.processInfo.environment["USERSTORE_SEED"]
    let seed = given.flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)
    print("USERSTORE_SEED=\(seed)")
    return seed
  }()
}
