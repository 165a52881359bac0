import Foundation
import TortureSupport

/// The life of one store: its roles, the rounds in which they work and are killed, and the checks at the end.
final class Life {
  private let seed: UInt64
  private let rounds: Int
  private let stage: Stage
  private var random: SplitMix64
  private let reader = LogReader()
  private let foreign: [ForeignWriter]
  private let tools: [ToolWriter]
  private let embedder: EmbedderWriter
  private let counter: Counter
  private let compactor: Compactor
  private let watchers: [Watcher]
  /// A user that is not written until the end.
  private let endUser: Int64 = 9

  var tally: Tally { stage.tally }

  init(seed: UInt64, rounds: Int, _ programs: Stage.Programs) throws {
    self.seed = seed
    self.rounds = rounds
    stage = try Stage("chaos", programs)
    random = SplitMix64(seed: seed)
    foreign = [
      ForeignWriter(.shell, user: 1, seed: random.next()), ForeignWriter(.python, user: 2, seed: random.next()),
    ]
    tools = [
      ToolWriter("tool", user: 3, seed: random.next()), ToolWriter("another", user: 8, seed: random.next()),
    ]
    embedder = EmbedderWriter(users: [4, 5, 6], seed: random.next())
    counter = Counter(user: 7, seed: random.next())
    compactor = Compactor(reader, seed: random.next())
    watchers = [
      Watcher("file-1", .cursorFile, .hunted, seed: random.next()),
      Watcher("file-2", .cursorFile, .hunted, seed: random.next()),
      Watcher("consumer-1", .consumer, .hunted, seed: random.next()),
      Watcher("consumer-2", .consumer, .hunted, seed: random.next()),
      Watcher("spared", .cursorFile, .spared, seed: random.next()),
      Watcher("unread", .cursorFile, .unread, seed: random.next()),
    ]
  }

  private var roles: [any Role] { [reader, embedder, counter, compactor] + foreign + tools + watchers }

  /// Runs all rounds, and checks the promises.
  func live() throws -> (verdicts: Verdicts, evidence: Evidence) {
    try begin()
    for _ in 0..<rounds { try round() }
    try end()
    return try judged()
  }

  /// Adds the users with their numbers, and the consumer that keeps the log for the reader.
  private func begin() throws {
    try stage.tool("init")
    for label in ["shell", "python", "tool", "embedder", "embedder", "embedder", "counter", "another", "end"] {
      let isCounter = label == "counter"
      try stage.tool(["add", label] + (isCounter ? [] : ["--set", "a=0", "--set", "b=0"]))
    }
    try stage.shell(
      """
      INSERT INTO consumers SELECT '\(Compactor.consumer)', epoch, horizon, horizon_nonce, 0, 0 FROM meta;
      """)
  }

  /// Runs all roles until all processes are killed at the same moment, which leaves the -wal and -shm files as they are.
  private func round() throws {
    stage.processes.reopen()
    let duration = UInt32.random(in: 700_000...2_200_000, using: &random)
    let stage = stage
    let failures = Threads.run(
      roles.map { role in { @Sendable in do { try role.live(on: stage) } catch is ProcessGroup.Closed {} } }
    ) {
      usleep(duration)
      stage.tally.add("kills: all at once", stage.processes.killAll())
      stage.tally.add("times that all were killed at once")
    }
    if let failure = failures.first { throw failure }
  }

  /// Makes a last change, which each watcher must report.
  private func end() throws {
    stage.processes.reopen()
    try stage.tool("set", "\(endUser)", "name=end-1", "a=1", "b=1", "-q")
    let (stage, last) = (stage, #""user":\#(endUser),"attribute":"b""#)
    let failures = Threads.run(
      watchers.map { watcher in { @Sendable in try watcher.finish(on: stage) { $0.contains(last) } } })
    if let failure = failures.first { throw failure }
    try reader.read(stage.look())
  }

  // MARK: Judging

  private func judged() throws -> (Verdicts, Evidence) {
    let connection = try stage.look()
    guard case .integer(let horizon)? = try connection.value("SELECT horizon FROM meta") else {
      throw TortureError("the log has no horizon")
    }
    let record = Record(
      reader.log, foreignUsers: Set(foreign.map(\.history.user)),
      numberedUsers: Set((foreign.map(\.history) + embedder.histories).map(\.user)), horizon: horizon)
    let index = LogIndex(reader.log)
    let feeds = watchers.map { watcher in
      Feed(
        name: watcher.name, savesEachSet: watcher.place == .cursorFile,
        runs: watcher.runs.map { WatchOutput($0, index) })
    }
    count(record, feeds)
    let evidence = Evidence(
      record: record, feeds: feeds, histories: foreign.map(\.history) + tools.map(\.history) + embedder.histories,
      embedder: (embedder.lives, embedder.histories), counter: (counter.user, counter.counted))
    return (verdicts(evidence, connection), evidence)
  }

  private func verdicts(_ evidence: Evidence, _ connection: PlainConnection) -> Verdicts {
    let record = evidence.record
    var verdicts = Verdicts()
    for promise in FeedPromises.all {
      verdicts.add(promise.text, evidence.feeds.flatMap { promise.violations(in: $0, record) })
    }
    verdicts.add(Acknowledged.text, evidence.histories.flatMap { Acknowledged.violations(in: $0, record) })
    verdicts.add(AtMostOneUnknown.text, evidence.histories.flatMap { AtMostOneUnknown.violations(in: $0, record) })
    verdicts.add(
      DeliveredBeforeReturn.text,
      evidence.embedder.lives.flatMap {
        DeliveredBeforeReturn.violations(in: $0, of: evidence.embedder.histories, record)
      })
    let (user, counted) = evidence.counter
    verdicts.add(ExactlyOnce.text, ExactlyOnce.violations(of: user, counted: counted, record))
    verdicts.add(Tables.text, Tables.violations(in: connection, record.log))
    verdicts.add(
      "no process fails or ends unless it is killed, and usertool check finds nothing", troubles + checkTroubles())
    let length = stage.tally["largest -wal file in KiB"]
    verdicts.add(
      "a watcher whose output is not read does not keep the -wal file from being restarted",
      length < 16_384 ? [] : ["it grew to \(length) KiB"])
    return verdicts
  }

  private var troubles: [String] {
    let all =
      [reader.troubles, embedder.troubles, counter.troubles, compactor.troubles]
      + foreign.map(\.troubles) + tools.map(\.troubles) + watchers.map(\.troubles)
    return all.flatMap(\.all)
  }

  private func checkTroubles() -> [String] {
    do { try stage.tool("check") } catch { return ["\(error)"] }
    return []
  }

  private func count(_ record: Record, _ feeds: [Feed]) {
    for transaction in record.transactions { tally.add("commits: " + (transaction.origin ?? "foreign")) }
    tally.add("rows of the log", Int(record.log.end))
    tally.add("rows deleted from the log", Int(record.horizon))
    for run in feeds.flatMap(\.runs) {
      tally.add("runs of watchers")
      let sets = run.parts.flatMap(\.sets)
      tally.add("changes reported", sets.reduce(0) { $0 + $1.places.count })
      tally.add("sets reported but not saved", sets.count { $0.revision > run.saved ?? 0 })
      tally.add("resets", run.parts.count { $0.reset != nil })
    }
  }
}
