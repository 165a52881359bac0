import Foundation
import TortureSupport
import UserStore

/// Checks of the other files, and of the store when the library opens it again.
extension LifeInspection {
  func inspectBackup() throws {
    let path = run.store + "/backup.db"
    guard FileManager.default.fileExists(atPath: path) else {
      return expect(claims.backup == nil, "the backup is not there")
    }
    let connection = try PlainConnection(path)
    expect(try connection.run("PRAGMA integrity_check") == [["ok"]], "the backup is damaged")
    let log = try WrittenLog(connection)
    try log.checkTables(of: connection, without: [])
    guard let cursor = claims.backup.flatMap({ CursorText($0) }) else { return }
    // A later backup may have replaced it without an announcement.
    expect(
      cursor.revision <= log.last && (cursor.revision < log.horizon || log.holds(cursor)),
      "the backup does not hold \(cursor.revision)")
  }

  func inspectLeftovers() throws {
    if let saved = claims.saved.flatMap({ CursorText($0) }) {
      let text = try String(contentsOfFile: run.store + "/reader.cursor", encoding: .utf8)
      expect(CursorText(text).map { $0.revision >= saved.revision } == true, "the cursor file holds \(text)")
    }
    guard !run.fault.isKill, run.fault.times == .once, run.descriptors == nil, !outcome.tally.hit.hasPrefix("u") else {
      return
    }
    let partial = try FileManager.default.contentsOfDirectory(atPath: run.store).filter { $0.hasSuffix(".partial") }
    expect(partial.isEmpty, "left behind: \(partial)")
  }

  /// Checks with the library that the store opens, is sound, resumes from saved cursors, and accepts writes.
  func inspectReopened() throws {
    let store = try UserStore(path: database, configuration: Self.configuration)
    defer { store.close() }
    let problems = try store.check().filter { $0.severity == .problem }
    expect(problems.isEmpty, "check: \(problems.map(\.message))")
    let name = try store.write(origin: "inspection") { users in
      let user = try users.add(name: "inspected")
      return try users.user(user)?.name
    }
    expect(name == "inspected", "a later write reads \(name ?? "nothing")")
    let consumer = try store.consumer("mailer", from: .oldest)
    for text in [try consumer.cursor().description] + (claims.saved.map { [$0] } ?? []) {
      try inspectResuming(text, store)
    }
  }

  private func inspectResuming(_ text: String, _ store: UserStore) throws {
    let cursor = try UserStore.Cursor(text)
    let last = Result { try store.page(after: cursor).last }
    switch last {
    case .success(let set): expect(set?.origin == "inspection", "no set follows \(cursor.revision)")
    case .failure(let error):
      let isCompacted = (error as? StoreError)?.code == .compacted
      let horizon = try store.compactionPreview(keeping: .unlimited).horizon
      expect(isCompacted && cursor.revision < horizon, "it does not resume after \(cursor.revision): \(error)")
    }
  }

  private static var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    return configuration
  }
}
