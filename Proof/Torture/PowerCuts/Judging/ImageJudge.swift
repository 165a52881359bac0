import TortureSupport
import UserStore

/// Checks the files after a cut, with and without the library.
struct ImageJudge {
  let history: LifeHistory
  /// Whether the end may be lost.
  let isNormal: Bool
  /// Whether resuming ignores the nonce of a cursor, for a control.
  let isCareless: Bool
  let folder: String
  let claims: Claims
  var random: SplitMix64
  var verdict = Verdict()

  static let database = "users.db"

  var path: String { folder + "/" + Self.database }

  mutating func judge() {
    judgeFiles()
    let store: UserStore
    do throws(StoreError) { store = try UserStore(path: path, configuration: configuration) } catch {
      return verdict.expect(false, .opens, "\(error.code.rawValue): \(error)")
    }
    do {
      let connection = try PlainConnection(path)
      try judgeSoundness(store, connection)
      let log = try ImageLog(connection)
      for user in claims.purging { judgePurge(of: user, log) }
      guard let point = judgeLog(log) else { return }
      try judgeTables(connection, at: point)
      try judgeConsumers(connection, at: point)
      try judgeCursors(store, log, at: point)
    } catch {
      verdict.expect(false, .isSound, "\(error)")
    }
    store.close()
  }

  private var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    // Until it was opened for the first time, the file may be missing.
    configuration.access = claims.isOpened ? .readWrite : .createIfMissing
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    configuration.retention = .unlimited
    return configuration
  }

  private mutating func judgeSoundness(_ store: UserStore, _ connection: PlainConnection) throws {
    let integrity = try connection.value("PRAGMA integrity_check") ?? .null
    verdict.expect(integrity == "ok", .isSound, "\(integrity)")
    let problems = try store.check().filter { $0.severity == .problem }
    verdict.expect(problems.isEmpty, .isSound, "check: \(problems.first?.message ?? "")")
  }

  // MARK: The log

  /// Returns the point at which the log ends, or nil if it is broken or ends with writes whose outcome was unknown.
  private mutating func judgeLog(_ log: ImageLog) -> Int? {
    guard log.rows.isEmpty || log.isContiguous else {
      verdict.expect(false, .isWhole, "the log has a gap")
      return nil
    }
    // Several, if the commit that failed was shared.
    let known = Set(history.points.compactMap(\.cursor))
    let strays = log.sets.reversed().prefix { CursorText($0.set.cursor).map { !known.contains($0) } ?? true }.reversed()
    let rows = strays.reduce(0) { $0 + $1.rows }
    guard let point = history.point(at: log.head - rows) else {
      verdict.expect(false, .isWhole, "the log ends at \(log.head), where no set ends")
      return nil
    }
    judgeEnds(log, at: point)
    for index in 0..<max(0, point) where history.points[index].revision >= log.horizon { judgeSet(index + 1, log) }
    for stray in strays.map(\.set) {
      verdict.expect(
        claims.uncertain.contains(stray.origin ?? ""), .hasNothingElse, "the set \(stray.cursor) was not begun")
    }
    return strays.isEmpty ? point : nil
  }

  private mutating func judgeEnds(_ log: ImageLog, at point: Int) {
    let lost = max(0, claims.reached - point)
    verdict.lost = lost
    verdict.expect(point == 0 || log.epoch == history.points[point].cursor?.epoch, .isSame, "the log has another epoch")
    verdict.expect(
      point <= claims.begun, .hasNothingElse, "it ends at \(log.head), but only \(claims.begun) sets were begun")
    verdict.expect(history.point(at: log.horizon) != nil, .isWhole, "the log starts after \(log.horizon), inside a set")
    if isNormal { return }
    verdict.expect(lost == 0, .losesNothing, "\(lost) sets are lost, those after \(log.head)")
    verdict.expect(log.horizon >= claims.horizon, .compacts, "the log starts after \(log.horizon) again")
  }

  private mutating func judgeSet(_ index: Int, _ log: ImageLog) {
    let (before, point) = (history.points[index - 1], history.points[index])
    guard let set = point.set, let rows = log.rows(after: before.revision, through: point.revision) else {
      return verdict.expect(false, .keepsTheRest, "the set that ends at \(point.revision) is incomplete")
    }
    verdict.expect(
      rows.last?.nonce == point.cursor.map { .integer($0.nonce) }, .isSame, "another set ends at \(point.revision)")
    for (row, change) in zip(rows.filter { !$0.isNote }, set.changes) where !row.says(change) {
      let isBlank = row.isBlank && claims.purging.contains(change.user)
      verdict.expect(isBlank, .isSame, "revision \(row.seq) is \(row), but \(change) was delivered")
      if isBlank == false { return }
    }
    for row in rows where claims.purged.contains(row.user) && !isNormal {
      verdict.expect(row.isBlank, .purges, "revision \(row.seq) has values of user \(row.user)")
    }
    for row in rows where row.isNote {
      let isExpected = row.isPurge && claims.purging.contains(row.user)
      verdict.expect(isExpected, .isSame, "revision \(row.seq) is the note \(row), which nobody wrote")
    }
  }

  /// Checks that a note says that values of a user were removed if and only if they were: both are one transaction.
  private mutating func judgePurge(of user: Int64, _ log: ImageLog) {
    let rows = log.rows.filter { $0.user == user && $0.seq > log.horizon }
    let isBlank = rows.contains { !$0.isNote && $0.isBlank && $0.values[3] == "name" }
    let notes = rows.filter(\.isPurge)
    let state = isBlank ? "purged" : "not purged"
    verdict.expect(notes.count == (isBlank ? 1 : 0), .purges, "user \(user) is \(state), but has \(notes.count) notes")
  }

  // MARK: The tables

  private mutating func judgeTables(_ connection: PlainConnection, at point: Int) throws {
    let users = try LogCheck.tables(of: connection)
    guard users != history.points[point].users else { return }
    verdict.expect(
      false, .replays,
      "at \(history.points[point].revision) the tables hold \(LogCheck.show(users)), not \(LogCheck.show(history.points[point].users))"
    )
  }

  /// A position is written in the transactions of the log, so that it is never ahead of the log or of its effects.
  private mutating func judgeConsumers(_ connection: PlainConnection, at point: Int) throws {
    for row in try connection.run("SELECT name, seq, nonce FROM consumers") {
      guard let name = row[0].utf8.map({ String(decoding: $0, as: UTF8.self) }), case .integer(let revision) = row[1],
        let position = history.point(at: revision), position <= point
      else {
        verdict.expect(false, .covers, "a consumer is at \(row)")
        continue
      }
      let known = history.points[position].cursor.map { PlainValue.integer($0.nonce) }
      verdict.expect(position == 0 || row[2] == known, .covers, "\(name) is at another set \(revision)")
      if !isNormal {
        verdict.expect(position >= claims.covered[name] ?? 0, .covers, "\(name) is at \(revision) again")
      }
      for (effect, covered) in history.effects {
        // A write that failed may have acknowledged the set without the effect. The effect was written later, and lost.
        if effect > point, covered <= claims.attempted[name] ?? 0 { continue }
        verdict.expect(
          (effect <= point) == (covered <= position), .covers,
          "\(name) is at \(revision), but the effect of the set \(covered) is \(effect <= point ? "" : "not ")there"
        )
      }
    }
  }
}
