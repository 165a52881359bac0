import TestSupport
import Testing
import UserStoreText

@testable import UserStorePostgres

/// Addresses of databases: no password is accepted as an argument, or shown.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DatabaseAddressTests {
  private func hasPassword(_ options: [String: String]?) -> Bool {
    ["password", "sslpassword"].contains { options?[$0]?.isEmpty == false }
  }

  private func isAccepted(_ text: String) -> Bool { (try? DatabaseAddress(argument: text)) != nil }

  @Test(arguments: [
    "users.db", "/tmp/postgres://x", "postgres:/x", "POSTGRES://me:secret@host/x", "", "a@b:c?password=d",
  ])
  func `a path is a file`(_ text: String) throws {
    guard case .file(text) = try DatabaseAddress(argument: text) else {
      Issue.record("not a file")
      return
    }
    #expect("\(DatabaseAddress(text))" == text)
  }

  @Test(arguments: [
    "postgres://", "postgresql:///x", "postgres://host", "postgres://me@host:5432/x", "postgres://[::1]:5432/x",
    "postgres://a:1,b:2,[::1]/x?sslmode=require&target_session_attrs=any", "postgres:///x?host=/tmp&port=1",
    "postgres:///x?passfile=/tmp/p", "postgres://m%40e@host/x%3A", "postgres://me:@host/x",
  ])
  func `an address without a password is accepted, and shown as it is`(_ text: String) throws {
    guard case .postgres(text) = try DatabaseAddress(argument: text) else {
      Issue.record("not a server")
      return
    }
    #expect("\(DatabaseAddress(text))" == text.replacing(":@", with: "@"))
  }

  @Test(arguments: [
    ("postgres://me:secret@host/x", "postgres://me@host/x"), ("postgresql://:secret@host", "postgresql://host"),
    ("postgres://me:s%65cret@host/x?a=b", "postgres://me@host/x?a=b"),
    ("postgres:///x?a=b&password=secret&c=d", "postgres:///x?a=b&c=d"),
    ("postgres:///x?PGPASS=secret", "postgres:///x"),
    ("postgres:///x?%70assword=secret", "postgres:///x"), ("postgres:///x?sslpassword=secret", "postgres:///x"),
    ("postgres://me:se@cret@host/x", "postgres://…"), ("postgres://me:se/cret@host/x", "postgres://…"),
    ("postgres://me:se?cret@host/x", "postgres://…"), ("postgres://me:secret/x", "postgres://…"),
    ("postgres://host/x?a=me:secret@b", "postgres://…"), ("postgres://[me:secret/x", "postgres://…"),
    ("postgres://\u{301}me:secret@host/x", "postgres://\u{301}me@host/x"),
    ("postgres://me:secret@\u{301}host/x", "postgres://me@\u{301}host/x"),
    ("postgres://me:secret@host/\u{1B}[31m", "postgres://me@host/\\u{1B}[31m"),
  ])
  func `a password is refused in an argument, and not shown`(_ text: String, _ shown: String) throws {
    let error = try #require(throws: TextError.self) { try DatabaseAddress(argument: text) }
    #expect(!"\(error) \(error.hint ?? "")".contains("cret") && error.text == nil)
    #expect(error.hint?.contains("PGPASSWORD") == true)
    guard case .postgres(text) = DatabaseAddress(text) else {
      Issue.record("not a server")
      return
    }
    #expect("\(DatabaseAddress(text))" == shown)
  }

  @Test(arguments: ["99999", "65536", "0", "123456789012345678901234567890"])
  func `a number that is no port is not taken for a password, and not shown`(_ port: String) throws {
    for text in ["postgres://db.example.com:\(port)/x", "postgres://a:1,b:\(port)/x", "postgres://[::1]:\(port)"] {
      let error = try #require(throws: TextError.self) { try DatabaseAddress(argument: text) }
      #expect(error.message.contains("the port") && !"\(error)".contains(port))
      #expect("\(DatabaseAddress(text))" == "postgres://…")
    }
    let error = #expect(throws: TextError.self) { try DatabaseAddress(argument: "postgres://me:secret@a:\(port)/x") }
    #expect(error?.message.contains("password") == true)
  }

  @Test func `an address in which libpq finds a password is refused, and its description has none`() throws {
    let pieces = [
      "me", "host", ":", "secret", "@", "/", "?", "&", "=", "password", "sslpassword=", "%70assword=", "5432", "%40",
      "[::1]", ",", "[", "]", "\u{301}", "#", ";", " ", "%zz",
    ]
    var source = SplitMix64(seed: Seed.base)
    var refused = 0
    for _ in 0..<5_000 {
      let text =
        "postgres://"
        + (0..<Int.random(in: 1...12, using: &source)).map { _ in pieces.randomElement(using: &source) ?? "" }.joined()
      if hasPassword(PostgresSettings.parse(text).options) {
        refused += 1
        #expect(!isAccepted(text), "\(text)")
      }
      let shown = "\(DatabaseAddress(text))"
      #expect(!hasPassword(PostgresSettings.parse(shown).options), "\(text): \(shown)")
    }
    #expect(refused > 25)
  }
}
