import TortureSupport
import UserStore

/// Looks at the files that a cut left, with the library and without it.
struct ImageJudge {
  let history: LifeHistory
  /// Whether the end may be lost.
  let isNormal: Bool
  /// What goes on after a cursor: a control has one that does not look at the nonce.
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
      guard let point = judgeLog(log) else { return }
      try judgeTables(connection, at: point)
      try judgeConsumers(connection, at: point)
      try judgeCursors(store, log, at: point)
    } catch {
      verdict.expect(false, .isSound, "\(error)")
    }
    store.close()
  }

  private var configuration: Configuration {
    var configuration = Configuration()
    // Before it was opened for the first time nobody was told that there is one.
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

  /// - Returns: the point at which it ends; nil also when it ends with a write that nobody knows of.
  private mutating func judgeLog(_ log: ImageLog) -> Int? {
    guard log.rows.isEmpty || log.isContiguous else {
      verdict.expect(false, .isWhole, "the log has a gap")
      return nil
    }
    let end = log.sets.last.flatMap { CursorText($0.cursor) }
    let isKnown = end.map { end in history.points.contains { $0.cursor == end } } ?? true
    let stray = isKnown ? nil : log.sets.last
    guard let point = history.point(at: stray.map { log.head - Int64($0.changes.count) - 1 } ?? log.head) else {
      verdict.expect(false, .isWhole, "the log ends at \(log.head), where no set ends")
      return nil
    }
    judgeEnds(log, at: point)
    for index in 0..<max(0, point) where history.points[index].revision >= log.horizon { judgeSet(index + 1, log) }
    guard let stray else { return point }
    verdict.expect(
      claims.uncertain.contains(stray.origin ?? ""), .hasNothingElse, "nobody knows of the set \(stray.cursor)")
    return nil
  }

  private mutating func judgeEnds(_ log: ImageLog, at point: Int) {
    let lost = max(0, claims.reached - point)
    verdict.lost = lost
    verdict.expect(point == 0 || log.epoch == history.points[point].cursor?.epoch, .isSame, "the log has another epoch")
    verdict.expect(point <= claims.begun, .hasNothingElse, "it ends at \(log.head), begun was up to \(claims.begun)")
    verdict.expect(history.point(at: log.horizon) != nil, .isWhole, "the log begins after \(log.horizon), within a set")
    if isNormal { return }
    verdict.expect(lost == 0, .losesNothing, "\(lost) sets are lost, those after \(log.head)")
    verdict.expect(log.horizon >= claims.horizon, .compacts, "the log begins after \(log.horizon) again")
  }

  private mutating func judgeSet(_ index: Int, _ log: ImageLog) {
    let (before, point) = (history.points[index - 1], history.points[index])
    guard let set = point.set, let rows = log.rows(after: before.revision, through: point.revision) else {
      return verdict.expect(false, .keepsTheRest, "the set that ends at \(point.revision) is not whole")
    }
    verdict.expect(
      rows.last?.nonce == point.cursor.map { .integer($0.nonce) }, .isSame, "another set ends at \(point.revision)")
    for (row, change) in zip(rows, set.changes) where !row.says(change) {
      let isBlank = row.isBlank && claims.purging.contains(change.user)
      verdict.expect(isBlank, .isSame, "revision \(row.seq) is \(row), told was \(change)")
      if isBlank == false { return }
    }
    for row in rows where claims.purged.contains(row.user) && !isNormal {
      verdict.expect(row.isBlank, .purges, "revision \(row.seq) has values of user \(row.user)")
    }
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

  /// A position lies in the same transactions as the log: it is never ahead of it, and an effect comes with it.
  private mutating func judgeConsumers(_ connection: PlainConnection, at point: Int) throws {
    for row in try connection.run("SELECT name, seq, nonce FROM consumers") {
      guard let name = row[0].utf8.map({ String(decoding: $0, as: UTF8.self) }), case .integer(let revision) = row[1],
        let position = history.point(at: revision), position <= point
      else {
        verdict.expect(false, .covers, "a consumer stands at \(row)")
        continue
      }
      let known = history.points[position].cursor.map { PlainValue.integer($0.nonce) }
      verdict.expect(position == 0 || row[2] == known, .covers, "\(name) stands at another set \(revision)")
      if !isNormal {
        verdict.expect(position >= claims.covered[name] ?? 0, .covers, "\(name) stands at \(revision) again")
      }
      for (effect, covered) in history.effects {
        // Acknowledged without an effect once, by a write that failed; the effect came after it, and is lost with its end.
        if effect > point, covered <= claims.attempted[name] ?? 0 { continue }
        verdict.expect(
          (effect <= point) == (covered <= position), .covers,
          "\(name) stands at \(revision), and the effect of the set \(covered) is \(effect <= point ? "" : "not ")there"
        )
      }
    }
  }
}
