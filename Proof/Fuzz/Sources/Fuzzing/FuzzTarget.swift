import CLibFuzzer

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// A kind of input, and what must hold for every one of it.
public protocol FuzzTarget {
  /// What the fuzzer begins with.
  static var seeds: [[UInt8]] { get throws }

  /// Pieces that inputs are made of, and that chance would hardly find.
  static var words: [String] { get }

  /// Deals with one input; stops the process when something does not hold.
  static func test(_ input: [UInt8])
}

extension FuzzTarget {
  /// None.
  public static var words: [String] { [] }

  /// `TARGET --seeds FOLDER` writes what there is to begin with; anything else is libFuzzer's command line.
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

/// What libFuzzer calls: a C function, which can hold nothing itself.
private enum Running {
  nonisolated(unsafe) static var target: (any FuzzTarget.Type)?

  static let test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32 = { bytes, count in
    target?.test(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }
}
