import Fuzzing
import UserStore
import UserStoreText

@testable import UserToolCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Lines of JSON, as an import reads them.
enum JSONRecords {
  static func test(_ input: [UInt8]) {
    ImportedRecords.test(input, "jsonl") { JSONLines($0) }
  }
}

/// Comma-separated values, as an import reads them.
enum CSVRecords {
  static func test(_ input: [UInt8]) {
    ImportedRecords.test(input, "csv") { try UserToolCommands.CSVRecords($0) }
  }
}

/// A file that is imported, exported, and imported again.
enum ImportedRecords {
  private static let stores = (try? UserStore.inMemory(), try? UserStore.inMemory())

  static func test(_ input: [UInt8], _ format: String, _ records: (LineReader) throws -> any RecordSource) {
    guard let (first, second) = stores as? (UserStore, UserStore) else { Findings.report("no stores") }
    do {
      let users = try imported(input, records, into: first)
      let export = UserEncoder(format: format == "csv" ? .csv : .jsonl, attributes: attributes(of: users))
      let text = export.header + users.flatMap { export.line($0) }
      let again = try imported(text, records, into: second, skipsBad: false)
      expect(users.map(\.storedValues) == again.map(\.storedValues), "\(users) is imported again as \(again)")
    } catch let failure as Failure where failure.status == .badData {
      Readable.check(failure.message.shown, "a message")
    } catch {
      Findings.report("\(error)")
    }
  }

  private struct RolledBack: Error {}

  private static func attributes(of users: [UserStore.User]) -> [AttributeName] {
    Set(users.flatMap(\.storedValues.keys)).filter { !AttributeName.builtIn.contains($0) }
  }

  /// Imports in a transaction that is rolled back, and returns the users in it.
  private static func imported(
    _ text: [UInt8], _ records: (LineReader) throws -> any RecordSource, into store: UserStore, skipsBad: Bool = true
  ) throws -> [UserStore.User] {
    let file = Files.openTemporary()
    defer { close(file) }
    try Files.write(text, to: file)
    lseek(file, 0, SEEK_SET)
    let reader = LineReader(file, name: "input", limit: 1 << 16)
    var users: [UserStore.User] = []
    do {
      let rejects = skipsBad ? Rejects(of: "input", into: nil) : nil
      var run = ImportRun(
        ("input", 0), try records(reader), identity: .new, rejects: rejects, batch: nil, isDryRun: false)
      try store.write { transaction in
        _ = try run.writeRecords(to: &transaction)
        try transaction.forEachUser { users.append($0) }
        throw RolledBack()
      }
    } catch is RolledBack {}
    return users
  }
}
