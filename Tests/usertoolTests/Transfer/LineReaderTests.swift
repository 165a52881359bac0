import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Lines of a file` {
  /// The lines; a line that is too long is `too long`, and a line without a line feed ends with `$`.
  private func lines(of text: String, limit: Int) throws -> [String] {
    let descriptor = try System.openTemporary().descriptor
    defer { System.close(descriptor) }
    #expect(System.write(Array(text.utf8)[...], to: descriptor) == text.utf8.count)
    System.rewind(descriptor)
    var reader = UserToolCommands.LineReader(descriptor, name: "test", limit: limit)
    var lines: [String] = []
    while let line = try reader.next() {
      #expect(line.number == lines.count + 1)
      let text = String(decoding: line.bytes, as: UTF8.self)
      lines.append(line.isTooLong ? "too long" : text)
    }
    return lines
  }

  @Test func `lines are read unchanged, with and without a line feed at the end`() throws {
    #expect(try lines(of: "", limit: 10) == [])
    #expect(try lines(of: "\n\na\r\nb", limit: 10) == ["", "", "a\r", "b"])
    #expect(try lines(of: "\u{FEFF}a\n\u{FEFF}b\n", limit: 10) == ["a", "\u{FEFF}b"])
  }

  // The file is read in pieces of 262,144 bytes. With 524,285, the line feed is the last byte of a piece.
  @Test(arguments: [5, 6, 262_143, 262_144, 262_145, 524_285, 700_000])
  func `lines that are too long are skipped, even if they are read in several pieces`(length: Int) throws {
    let long = String(repeating: "x", count: length)
    #expect(try lines(of: "a\n\(long)\nb\nc\n", limit: 5) == ["a", length > 5 ? "too long" : long, "b", "c"])
    #expect(try lines(of: "a\n\(long)", limit: 5) == ["a", length > 5 ? "too long" : long])
    #expect(try lines(of: "\(long)\n\(long)\nb", limit: length) == [long, long, "b"])
  }
}
