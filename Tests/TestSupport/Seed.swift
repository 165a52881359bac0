#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The seed of the random tests of this run: a new one each time, unless `USERSTORE_SEED` sets it.
package enum Seed {
  package static let base: UInt64 = {
    // Not Foundation's ProcessInfo: loading Foundation would take longer than most processes that the torture starts.
    let given = unsafe getenv("USERSTORE_SEED").map { unsafe String(cString: $0) }
    let seed = given.flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)
    print("USERSTORE_SEED=\(seed)")
    return seed
  }()
}
