#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// What is written to standard output and standard error meanwhile.
public struct Captured {
  /// What standard output got.
  public let output: [UInt8]
  /// What standard error got.
  public let errors: [UInt8]

  private static let files = (output: file(for: STDOUT_FILENO), errors: file(for: STDERR_FILENO))

  /// Lets `body` write.
  public init(_ body: () -> Void) {
    let (output, errors) = Self.files
    for file in [output, errors] {
      ftruncate(file, 0)
      lseek(file, 0, SEEK_SET)
    }
    body()
    (self.output, self.errors) = (Files.read(output), Files.read(errors))
  }

  /// Puts a file without a name in the place of a descriptor, from here on.
  private static func file(for descriptor: Int32) -> Int32 {
    let file = Files.openTemporary()
    dup2(file, descriptor)
    return file
  }
}
