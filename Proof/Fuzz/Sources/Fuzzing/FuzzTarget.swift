import CLibFuzzer

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A kind of input, and the properties that must hold for every input.
public protocol FuzzTarget {
  /// The inputs that the fuzzer starts with.
  static var seeds: [[UInt8]] { get throws }

  /// Parts of inputs that random changes would hardly produce.
  static var words: [String] { get }

  /// Processes one input, and ends the process if a property does not hold.
  static func test(_ input: [UInt8])
}

extension FuzzTarget {
  /// No words.
  public static var words: [String] { [] }

  /// `TARGET --seeds FOLDER` writes the seeds and words.
  ///
  /// All other arguments are libFuzzer's.
  public static func main() throws {
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--seeds" {
      return try Seeds(of: self).write(to: CommandLine.arguments[2])
    }
    Findings.keepStandardError()
    Running.target = self
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    withUnsafeMutablePointer(to: &arguments) { arguments in
      arguments.withMemoryRebound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1) {
        exit(LLVMFuzzerRunDriver(&count, $0, Running.test))
      }
    }
  }
}

/// The function that libFuzzer calls, and the target, which a C function cannot capture.
private enum Running {
  nonisolated(unsafe) static var target: (any FuzzTarget.Type)?

  static let test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 = { bytes, count in
    target?.test(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }
}
