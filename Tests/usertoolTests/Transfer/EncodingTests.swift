import Foundation
import TestSupport
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `The encoding of an import` {
  private func decoded(_ pieces: [[UInt8]], _ decoder: TextDecoder) throws -> (text: [UInt8], encoding: String?) {
    var decoder = decoder
    var text: [UInt8] = []
    for piece in pieces where !piece.isEmpty { text += try decoder.decode(piece) }
    text += try decoder.decode([])
    return (text, decoder.encoding)
  }

  private func pieces(_ bytes: [UInt8], _ random: inout SplitMix64) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...max(1, min(rest.count, random.oneIn(2) ? 3 : rest.count)), using: &random)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  private static let letters: [Unicode.Scalar] = [
    "a", "\n", ",", "é", "ß", "€", "Œ", "ÿ", "佐", "ソ", "😀", "\u{301}", "\u{FEFF}",
  ]

  @Test(arguments: [
    ("UTF-8", 13), ("Windows-1252", 8), ("UTF-16LE", 13), ("UTF-16BE", 13), ("UTF-32LE", 13), ("CP932", 3),
    ("GB18030", 13),
  ])
  func `text in any pieces is the text at once`(encoding: String, count: Int) throws {
    for seed in (0..<40).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let length = Int.random(in: 0..<40, using: &random)
      let letters = (0..<length).map { _ in Self.letters[Int.random(in: 0..<count, using: &random)] }
      let text = String(String.UnicodeScalarView(letters)) + (encoding == "CP932" ? "佐ソ" : "")
      let file = try Workspace()
      try file.write(Data(text.utf8), to: "t")
      // Another program encodes the text.
      _ = try file.finish(["sh", "-c", "iconv -f UTF-8 -t \(encoding) \(file.folder)/t > \(file.folder)/e"])
      let bytes = [UInt8](try #require(file.bytes(of: "e")))
      let back = try decoded(pieces(bytes, &random), try TextDecoder(encoding)).text
      #expect(String(decoding: back, as: UTF8.self) == text, "seed \(seed)")
    }
  }

  @Test func `without an encoding, UTF-8 in any pieces stays as it is, and is never taken for Windows-1252`() throws {
    for seed in (0..<500).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let ascii = String(repeating: "a,\n", count: Int.random(in: 0..<20, using: &random))
      let tail = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
        Self.letters[Int.random(in: 0..<Self.letters.count - 1, using: &random)]
      }
      let bytes = Array((ascii + String(String.UnicodeScalarView(tail))).utf8)
      let (text, encoding) = try decoded(pieces(bytes, &random), TextDecoder(isGuessing: true))
      #expect(text == bytes && encoding == nil, "seed \(seed)")
    }
  }

  /// Characters in UTF-8 and in Windows-1252, and bytes that are neither.
  private static let parts: [[UInt8]] = [
    [0x61], [0x0A], [0x2C], [0xC3, 0xA9], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0xE9], [0xFC], [0x80], [0xC3],
    [0xE2, 0x82], [0xF0, 0x9F], [0x81], [0xED, 0xA0, 0x80], [0xC0, 0xAF],
  ]

  @Test func `the first character beyond ASCII decides, whatever the pieces are`() throws {
    for seed in (0..<3_000).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let bytes = (0..<Int.random(in: 0..<12, using: &random)).flatMap { _ in
        Self.parts.randomElement(using: &random)!
      }
      let start = bytes.drop { $0 < 0x80 }
      let isUTF8 = (1...4).contains { String(validating: start.prefix($0), as: UTF8.self) != nil }
      let isUndefined = start.first.map { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains($0) } ?? false
      for pieces in [[bytes], pieces(bytes, &random), bytes.map { [$0] }] {
        do {
          let (text, encoding) = try decoded(pieces, TextDecoder(isGuessing: true))
          #expect(isUTF8 || !isUndefined, "seed \(seed): \(bytes)")
          #expect(encoding == (isUTF8 ? nil : "Windows-1252"), "seed \(seed): \(bytes) in \(pieces)")
          let whole = isUTF8 ? bytes : try decoded([bytes], try TextDecoder("Windows-1252")).text
          #expect(text == whole, "seed \(seed): \(bytes) in \(pieces)")
        } catch { #expect(!isUTF8 && isUndefined, "seed \(seed): \(bytes) in \(pieces): \(error)") }
      }
    }
  }

  @Test func `a byte order mark is recognized in pieces`() throws {
    let utf16 = "\u{FEFF}Zoë".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let utf32 = "\u{FEFF}Zoë".unicodeScalars.flatMap { [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xFF)] }
    for bytes in [utf16, utf32, Array("\u{FEFF}Zoë".utf8), Array("Z".utf8)] {
      let text = try decoded(bytes.map { [$0] }, TextDecoder(isGuessing: true)).text
      #expect(text == (bytes.count == 1 ? bytes : Array("\u{FEFF}Zoë".utf8)), "\(bytes)")
    }
  }

  @Test func `a byte that does not fit the first character beyond ASCII is an error with its line`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    for (first, second, words) in [
      ("M\\xc3\\xbcller", "Caf\\xe9", "in.csv:3: the name is not valid UTF-8"),
      ("Caf\\xe9", "\\x81", "in.csv:3: the name is not valid Windows-1252"),
    ] {
      let script = "cd ~ && printf 'name,note\\n\(first),1\\n\(second),2\\n' > in.csv"
      try #require(try workspace.finish(["bash", "-c", script]).status == 0)
      let outcome = try workspace.run("import", workspace.folder + "/in.csv")
      #expect(outcome.status == 65 && outcome.errors.contains(words), "\(outcome)")
      #expect(outcome.errors.contains("if the file has another encoding, name it with --encoding"), "\(outcome)")
    }
  }

  @Test func `what is not valid in the encoding stays invalid, and the text after it is right`() throws {
    let cases: [(String, [UInt8], String)] = [
      ("Windows-1252", [0x61, 0x81, 0xE9], "é"), ("CP932", [0x61, 0xFF, 0x83, 0x5C], "ソ"),
      ("UTF-16LE", [0x61, 0, 0x00, 0xDC, 0xE9, 0], "é"), ("UTF-8", [0x61, 0xFF, 0xC3, 0xA9], "é"),
      ("UTF-16LE", [0x61, 0, 0xE9], ""),
    ]
    for (encoding, bytes, rest) in cases {
      let text = try decoded([bytes], try TextDecoder(encoding)).text
      #expect(text == [0x61, 0xFF] + Array(rest.utf8), "\(encoding)")
    }
  }

  @Test func `bytes of Windows-1252 far behind the first block are recognized, and said`() throws {
    let workspace = try Workspace()
    let rows = (1...60_000).map { "user \($0)\n" }.joined()
    try workspace.write(Data("name\n\(rows)Zo".utf8) + [0xEB] + Data("\n".utf8), to: "in.csv")
    let path = workspace.folder + "/in.csv"
    let command = "cat '\(path)' | '\(Workspace.tool)' import - --format csv"
    for arguments in [[Workspace.tool, "import", path], ["bash", "-c", command]] {
      let outcome = try workspace.finish(arguments)
      #expect(outcome.status == 0 && outcome.errors.contains(" is Windows-1252\n"), "\(outcome)")
    }
    #expect(try workspace.sqlite("SELECT count(*) FROM users WHERE name = 'Zoë'").output == "2\n")
  }

  @Test func `after text in UTF-8, another byte is an error with its line, and nothing is imported`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let before = try workspace.dump()
    let rows = (1...60_000).map { "Zoë \($0)\n" }.joined()
    try workspace.write(Data("name\n\(rows)Zo".utf8) + [0xEB] + Data("\nlast\n".utf8), to: "in.csv")
    let path = workspace.folder + "/in.csv"
    let outcome = try workspace.run("import", path)
    #expect(outcome.status == 65, "\(outcome)")
    #expect(
      outcome.errors.hasPrefix(
        "usertool: error: \(path):60002: the name is not valid UTF-8; if the file has another encoding, name it with --encoding\n"
      ),
      "\(outcome)")
    #expect(outcome.errors.contains("nothing was changed"))
    #expect(try workspace.dump() == before)
    // Only this record is bad.
    let skipping = try workspace.run("import", path, "--skip-bad")
    #expect(skipping.errors.contains("imported 60001 users (1 skipped)"), "\(skipping)")
  }

  @Test func `an encoding that was named is used, in JSON lines too, and one that is unknown is an error`() throws {
    let workspace = try Workspace()
    try workspace.write(Data("{\"name\":\"Zo".utf8) + [0xEB] + Data("\"}\n".utf8), to: "in.jsonl")
    let path = workspace.folder + "/in.jsonl"
    #expect(try workspace.run("import", path).status == 65)
    #expect(try workspace.run("import", path, "--encoding", "latin1").status == 0)
    // PowerShell writes output like this.
    let text = "{\"name\":\"Zoë\"}\r\n".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    try workspace.write(Data([0xFF, 0xFE]) + Data(text), to: "in.jsonl")
    #expect(try workspace.run("import", path).status == 0)
    #expect(try workspace.run("list").output == "1\tZoë\t\n2\tZoë\t\n")
    for name in ["klingon", "", "UTF-8//IGNORE", "a\u{301}"] {
      let outcome = try workspace.run("import", path, "--encoding", name)
      #expect(outcome.status == 64 && outcome.errors.contains("iconv does not know"), "\(outcome)")
    }
    try workspace.write(Data("name\nZo".utf8) + [0xEB, 0x0A], to: "in.csv")
    let strict = try workspace.run("import", workspace.folder + "/in.csv", "--encoding", "utf-8")
    #expect(strict.status == 65 && strict.errors.contains("in.csv:2: the name is not valid UTF-8"), "\(strict)")
  }
}
