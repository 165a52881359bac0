import Testing

@testable import UserStore

/// The end of the log that a session knows from its own commits, beside another connection.
@Suite(.bounded, .serialized) struct LogEndTests {
  private let folder: Folder
  /// The session that writes first, and the other one.
  private let (own, other): (SQLiteSession, SQLiteSession)

  init() throws {
    folder = try Folder()
    let file = try DatabaseFile(folder.database, Configuration())
    own = SQLiteSession(try file.openChecked(), file: file)
    other = SQLiteSession(try file.open(.readWrite), file: file)
  }

  private func add(_ name: String, _ session: SQLiteSession) throws -> Cursor {
    try session.beginWriting(isWaiting: true)
    _ = try session.insertUser(nil, name: .text(name), hairColor: .null)
    try session.endSet(origin: nil)
    return try session.commit(readingAfter: nil).end
  }

  /// The end that a session finds in a transaction, and the one that the log has there.
  private func ends(_ session: SQLiteSession, afterBegin: () throws -> Void = {}) throws -> (found: Cursor, Cursor) {
    try session.beginReading(after: nil)
    defer { session.rollBack() }
    try afterBegin()
    let end = try session.logEnd()
    let state = try session.logState(at: end.revision.rawValue, of: nil)
    return (end, Cursor(epoch: state.epoch, revision: state.last ?? 0, nonce: state.nonce ?? 0))
  }

  @Test func `it is that of the session's own commits`() throws {
    for name in ["Ada", "Bob"] {
      let end = try add(name, own)
      #expect(try ends(own) == (end, end))
      #expect(try ends(other) == (end, end))
    }
  }

  @Test func `it is that of another connection that has committed later`() throws {
    _ = try add("Ada", own)
    let end = try add("Bob", other)
    #expect(try ends(own) == (end, end))
  }

  @Test func `it is that of another connection that has committed before the first statement`() throws {
    _ = try add("Ada", own)
    var end: Cursor?
    let found = try ends(own) { end = try add("Bob", other) }
    #expect(try found == (#require(end), #require(end)))
  }

  @Test func `it does not change in a transaction`() throws {
    let end = try add("Ada", own)
    try own.beginReading(after: nil)
    #expect(try own.logEnd() == end)
    _ = try add("Bob", other)
    #expect(try own.logEnd() == end)
    #expect(try own.lastRow() == end.revision.rawValue)
    own.rollBack()
    #expect(try ends(own).found == ends(other).found)
  }

  @Test func `the next write starts there`() throws {
    _ = try add("Ada", own)
    let end = try add("Bob", other)
    try own.beginWriting(isWaiting: true)
    #expect(own.writingStart?.end == end)
    own.rollBack()
  }
}
