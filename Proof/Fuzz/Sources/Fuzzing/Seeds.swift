#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The files that the fuzzer starts with: one for each input, and a dictionary.
struct Seeds {
  let inputs: [[UInt8]]
  let words: [String]

  init(of target: any FuzzTarget.Type) throws {
    inputs = try target.seeds
    words = target.words
  }

  func write(to folder: String) throws {
    for (number, input) in inputs.enumerated() { try Self.write(input, to: "\(folder)/seed-\(number)") }
    let lines = words.map { "\"" + $0.utf8.map(Self.escaped).joined() + "\"\n" }
    try Self.write(Array(lines.joined().utf8), to: "\(folder).dict")
  }

  private static func escaped(_ byte: UInt8) -> String {
    let isPlain = (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    if isPlain { return String(UnicodeScalar(byte)) }
    return "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    try Files.write(bytes, to: path)
  }
}
