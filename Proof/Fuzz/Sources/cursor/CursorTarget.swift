import Fuzzing
import UserStore

/// Texts of cursors: only a text that `description` returns is accepted, and all others are `badCursor`.
@main struct CursorTarget: FuzzTarget {
  static var seeds: [[UInt8]] {
    [
      "v1-7f1da43a72d851f8-7-b1b13f7374651eed", "v1-0-0-0", "v1-ffffffffffffffff-7fffffffffffffff-ffffffffffffffff",
      "v2-1-2-3", "v1-1-8000000000000000-3", "", "v1-01-2-3", "v1-A-2-3", "v1-1-2", "v1-1-2-3-4", "v1--1-2-3",
    ].map { Array($0.utf8) }
  }

  static let words = ["v1-", "v2-", "v", "-", "+", "ffffffffffffffff", "8000000000000000", "７", "\u{301}"]

  static func test(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    do {
      let cursor = try UserStore.Cursor(text)
      expect(
        cursor.description.utf8.elementsEqual(text.utf8),
        "\(text.debugDescription) was parsed as \(cursor.description)")
      expect((try? UserStore.Cursor(cursor.description)) == cursor, "\(cursor) does not round-trip")
      expect(cursor.revision.rawValue >= 0, "\(cursor) has a negative revision")
    } catch {
      expect(error.code == .badCursor, "\(text.debugDescription): \(error.code), \(error)")
      expect(
        error.message.utf8.count < 1_000, "a message of \(error.message.utf8.count) bytes for \(input.count) of text")
    }
  }
}
