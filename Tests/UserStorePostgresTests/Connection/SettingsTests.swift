import Foundation
import Testing

@testable import UserStorePostgres

extension AllTests {
  @Suite(.timeLimit(.minutes(5)))
  struct SettingsTests {
    @Test(arguments: [
      ("", true), ("/var/run", true), ("@abstract", true), ("localhost", true), ("LOCALHOST", true),
      ("127.0.0.1", true),
      ("127.1.2.3", true), ("::1", true), ("127.example.com", false), ("127.0.0.1.example.com", false),
      ("db.example.com", false),
      ("10.0.0.1", false), ("127.0.0.x", false), ("localhost.example.com", false),
    ])
    func `is local`(_ host: String, _ expected: Bool) { #expect(PostgresSettings.isLocal(host) == expected) }

    private func verifies(_ string: String) throws -> Bool {
      try PostgresSettings(string).target().verifiedHosts != nil
    }

    @Test func `remote hosts need TLS`() throws {
      #expect(try verifies("host=db.example.com"))
      #expect(try verifies("postgres://db.example.com/x"))
      #expect(try verifies("host=localhost,db.example.com"))
      #expect(try verifies("host=db.example.com hostaddr=''"))
      #expect(try verifies("postgres://db.example.com/x?hostaddr="))
      #expect(try verifies("host=a.example.com,b.example.com hostaddr=127.0.0.1,"))
      #expect(try !verifies("host=a.example.com,localhost hostaddr=127.0.0.1,"))
      #expect(try !verifies("host=db.example.com sslmode=prefer"))
      #expect(try !verifies("postgres://db.example.com/x?sslmode=disable"))
      #expect(try !verifies("host=localhost"))
      #expect(try !verifies(Server.string))
      #expect(try !verifies("host=db.example.com hostaddr=127.0.0.1"))
      #expect(try verifies("host=localhost hostaddr=10.0.0.1"))
      unsafe setenv("PGHOST", "db.example.com", 1)
      defer { unsafe unsetenv("PGHOST") }
      #expect(try verifies(""))
      unsafe setenv("PGSSLMODE", "require", 1)
      defer { unsafe unsetenv("PGSSLMODE") }
      #expect(try !verifies(""))
      #expect(try PostgresSettings("").target().keywords.allSatisfy { $0.name != "sslmode" })
    }

    @Test func `service file`() throws {
      let path = FileManager.default.temporaryDirectory.appending(path: "service-\(getpid())").path
      try "[far]\nhost=db.example.com\n[chosen]\nhost=db.example.com\nsslmode=require\n".write(
        toFile: path, atomically: true, encoding: .utf8)
      unsafe setenv("PGSERVICEFILE", path, 1)
      defer {
        unsafe unsetenv("PGSERVICEFILE")
        try? FileManager.default.removeItem(atPath: path)
      }
      #expect(try verifies("service=far"))
      #expect(try !verifies("service=chosen"))
      #expect(
        failure { _ = try PostgresConnection(PostgresSettings("service=missing")) }?.description.contains("missing")
          == true)
    }

    @Test(.enabled(if: !Server.address.isEmpty, "the machine has only the loopback's address"))
    func `verification fails with a hint`() throws {
      let string = "host=\(Server.address) port=\(Server.port) user=postgres"
      let error = failure { _ = try PostgresConnection(PostgresSettings(string)) }
      #expect(error?.kind == .cannotConnect)
      #expect(error?.description.contains("sslrootcert") == true)
      #expect(try PostgresConnection(PostgresSettings(string + " sslmode=disable")).isOpen)
    }

    @Test func `verified TLS`() throws {
      let string = "host=db.test hostaddr=127.0.0.1 port=\(Server.port) user=postgres sslmode=verify-full"
      let certificate = " sslrootcert=\(Server.folder)/server.crt"
      let connection = try PostgresConnection(PostgresSettings(string + certificate))
      let encrypted = PostgresStatement(once: "look", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
      #expect(try connection.run(encrypted)[0].bool(0))
      // More than one record of TLS in both directions.
      let echo = PostgresStatement("echo text", "SELECT $1", .text)
      for count in [0, 8_191, 8_192, 16_385, 5 << 20] {
        let text = String(repeating: "x", count: count)
        let results = try connection.pipeline { batch in
          (batch.add(echo, .text(text)), batch.add(echo, .text(text)))
        }
        #expect(results.0[0].text(0) == text && results.1[0].text(0) == text)
      }
      let wrong = PostgresSettings(string.replacing("db.test", with: "db.wrong") + certificate)
      #expect(failure { _ = try PostgresConnection(wrong) }?.kind == .cannotConnect)
    }

    /// Every way in which a message could show a part of the password.
    @Test(arguments: [
      "postgres://u:sec-ret-word@localhost:PORT/postgres?sslmode=disable",
      "postgres://u:sec-ret-word@localhost:1/postgres",
      "postgres://u:x@sec-ret-word@localhost/db", "postgres://u:x/sec-ret-word@localhost/db",
      "postgres://u:sec-ret-word/db",
      "postgres://u:12/sec-ret-word@localhost/db", "postgres://u:sec-ret-word@localhost:PORT/x?bad=1",
      "postgres://u:sec-ret-word@local%host/db", "postgres://u:sec-ret-word@[localhost/db", "postgres://u:sec-ret-word",
      "host=localhost password=x sec-ret-word", "host=localhost password=x sec-ret-word=1", "password='sec-ret-word",
      "host=localhost port=PORT user=secretive password=sec-ret-word sslmode=disable",
      "host=localhost port=PORT user=secretive password=sec-ret-word sslmode=bad",
      "postgres://x:sec-ret-word%00@localhost/db",
      "postgres://secretive:sec-ret-word@localhost:PORT/missing", "postgres://u:%zzsec-ret-word@localhost/db",
      "postgres://u:x?sec-ret-word@localhost:1/db", "postgres://u:x#sec-ret-word@localhost:1/db",
    ])
    func `passwords are not shown`(_ template: String) throws {
      let settings = PostgresSettings(template.replacing("PORT", with: Server.port))
      let error = failure { _ = try PostgresConnection(settings) }
      if error == nil {
        // The server trusts everybody but one.
        #expect(template.contains("u:sec-ret-word@localhost:PORT/postgres"))
      }
      for text in ["\(error, default: "")", error?.message ?? "", error?.hint ?? "", error?.detail ?? ""] {
        #expect(!text.contains("sec-ret-word"))
      }
    }

    @Test func `a limit of zero is the shortest, because the server takes 0 for no limit`() {
      var settings = PostgresSettings()
      settings.lockTimeout = .zero
      settings.statementTimeout = .seconds(-1)
      settings.idleInTransactionTimeout = nil
      let parameters = settings.allSessionParameters
      #expect(parameters["lock_timeout"] == "1" && parameters["statement_timeout"] == "1")
      #expect(parameters["idle_in_transaction_session_timeout"] == "0")
    }

    @Test func `helpful messages remain`() throws {
      func message(_ string: String) -> String {
        failure { _ = try PostgresConnection(PostgresSettings(string)) }?.message ?? ""
      }
      #expect(message("host=localhost hots=b").contains("hots"))
      #expect(message("host=localhost port=1").contains("refused"))
      #expect(message(Server.string + " dbname=missing").contains("missing"))
    }
  }
}
