#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The clock of the timestamps in the log, which users can set.
package enum WallClock {
  /// Milliseconds since 1970.
  package static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Duration {
  /// Whole milliseconds, clamped at about 290 million years.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let milliseconds = seconds.multipliedReportingOverflow(by: 1_000)
    if milliseconds.overflow { return seconds < 0 ? .min : .max }
    return milliseconds.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
  }
}
