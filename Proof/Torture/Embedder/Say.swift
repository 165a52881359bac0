#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Prints a line with one system call, so that a process that is killed has printed all of it or nothing.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

/// Sleeps for some microseconds.
func rest(_ microseconds: Int) {
  if microseconds > 0 { usleep(UInt32(microseconds)) }
}
