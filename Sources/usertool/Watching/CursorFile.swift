import UserStore

/// Where a consumer keeps how far it has come.
struct CursorFile: Sendable {
  let path: String

  /// - Returns: nil when there is no file.
  /// - Throws: `Failure` for one that cannot be read or holds no cursor.
  func read() throws(Failure) -> Cursor? {
    guard let bytes = try System.read(path) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    if text.count == 1, let cursor = try? Cursor(String(text[0])) { return cursor }
    throw Failure(.badData, "\(path) holds no cursor", hint: "remove it to begin with the present state")
  }

  /// - Throws: `Failure`.
  func write(_ cursor: Cursor) throws(Failure) {
    try System.replace(path, with: Array(cursor.description.utf8) + [0x0A])
  }
}
