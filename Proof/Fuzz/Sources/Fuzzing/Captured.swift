#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The output of a closure on standard output and standard error.
public struct Captured {
  /// The bytes written to standard output.
  public let output: [UInt8]
  /// The bytes written to standard error.
  public let errors: [UInt8]

  private static let files = (output: file(for: STDOUT_FILENO), errors: file(for: STDERR_FILENO))

  /// Runs `body` and captures its output.
  public init(_ body: () -> Void) {
    let (output, errors) = Self.files
    for file in [output, errors] {
      ftruncate(file, 0)
      lseek(file, 0, SEEK_SET)
    }
    body()
    (self.output, self.errors) = (Files.read(output), Files.read(errors))
  }

  /// Redirects a descriptor to an unnamed file for the rest of the process.
  private static func file(for descriptor: Int32) -> Int32 {
    let file = Files.openTemporary()
    dup2(file, descriptor)
    return file
  }
}
