import NIOCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The number of files that the process may open, including connections.
enum Descriptors {
  /// Enough for the store and its threads, with a margin, and four for each event loop.
  static var reserve: Int { 64 + 4 * System.coreCount }

  /// Raises the limit as far as possible, and returns it.
  ///
  /// Without descriptors, libdispatch stops the process, so the server accepts fewer connections than that.
  static func raise() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(resource, &limit) == 0 else { return 256 }
    let most = min(limit.rlim_max, 65_536)
    if limit.rlim_cur < most {
      var raised = limit
      raised.rlim_cur = most
      if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(min(limit.rlim_cur, 65_536))
  }

  #if canImport(Glibc)
    private static var resource: __rlimit_resource_t { .init(RLIMIT_NOFILE.rawValue) }
  #else
    private static var resource: Int32 { RLIMIT_NOFILE }
  #endif
}
