#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// Ends the process with a finding if a condition does not hold, so that libFuzzer keeps the input.
public func expect(_ isTrue: Bool, _ finding: @autoclosure () -> String) {
  if !isTrue { Findings.report(finding()) }
}

/// Reports findings on the original standard error, even if that is redirected.
public enum Findings {
  nonisolated(unsafe) private static var standardError = STDERR_FILENO

  static func keepStandardError() {
    standardError = dup(STDERR_FILENO)
  }

  /// Ends the process with a finding.
  public static func report(_ finding: String) -> Never {
    let text = "FINDING: " + finding + "\n"
    _ = text.withCString { write(standardError, $0, strlen($0)) }
    abort()
  }
}
