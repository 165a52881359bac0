import UserStore

/// A file in which a consumer keeps its position.
struct CursorFile: Sendable {
  /// The path as it was given.
  let name: String
  let path: String

  init(_ file: String, _ common: CommonOptions) throws(Failure) {
    name = file
    path = try common.writable(file).path
  }

  /// The cursor; nil if there is no file; throws if the file cannot be read or does not contain a cursor.
  func read() throws(Failure) -> Cursor? {
    guard let bytes = try System.read(path) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    if text.count == 1, let cursor = try? Cursor(String(text[0])) { return cursor }
    throw Failure(
      .badData, "\(path) does not contain a cursor", hint: "remove the file to start from the current state")
  }

  func write(_ cursor: Cursor) throws {
    try System.replace(path, with: Array(cursor.description.utf8) + [0x0A])
  }
}
