#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where the random tests of this run begin: another place each time, unless USERSTORE_SEED says which.
package enum Seed {
  package static let base: UInt64 = {
    // Not Foundation's ProcessInfo: loading Foundation takes longer than most of what the torture starts.
    let given = unsafe getenv("USERSTORE_SEED").map { unsafe String(cString: $0) }
    let seed = given.flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)
    print("USERSTORE_SEED=\(seed)")
    return seed
  }()
}
