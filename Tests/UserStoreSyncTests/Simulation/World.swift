import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// One history: a server and its replicas, in one thread, with all choices from a seed.
///
/// After every transaction, the judge compares.
final class World {
  /// A process that has a replica's file open.
  final class Process {
    let replica: SimulatedReplica
    var store: UserStore
    /// As whom it asks.
    var subject: String

    init(_ replica: SimulatedReplica, _ store: UserStore) {
      (self.replica, self.store, subject) = (replica, store, replica.subject)
    }
  }

  enum Message {
    /// `earlier`: the sets that the server must have decided before those that are sent.
    case request(Process, ReplicaStep, SyncRequest, subject: String, earlier: [Int64])
    /// `restores`: how often the server had been restored when it answered.
    case answer(Process, ReplicaStep, SyncRequest, status: Int, body: [UInt8], restores: Int)

    var process: Process {
      switch self {
      case .request(let process, _, _, _, _), .answer(let process, _, _, _, _, _): process
      }
    }

    var isPush: Bool {
      switch self {
      case .request(_, let step, _, _, _), .answer(_, let step, _, _, _, _): step.push != nil
      }
    }
  }

  /// How a rule is broken in this history, to see that the judge notices.
  let fault: Fault?
  var random: SplitMix64
  let folder: String
  let server: SimulatedServer
  var processes: [Process] = []
  var messages: [Message] = []
  var count = 0
  private(set) var counts: [String: Int] = [:]
  let traces: Bool
  var isSettling = false

  // What happens in this history, and how often.
  let loss: Int
  let repetition: Int
  let hostilities: [String]
  let isHuge: Bool
  /// Whether replicas are written, too.
  let writes: Bool
  var written = 1_000
  /// For whom each row was written.
  var authors: [Int64: String] = [:]
  /// The sets that were sent.
  var sent: Set<Int64> = []

  init(
    seed: UInt64, in folder: String, at database: any SimulatedDatabase, fault: Fault? = nil, writes: Bool,
    traces: Bool = false
  ) throws {
    self.writes = writes
    (self.folder, self.fault, self.traces) = (folder, fault, traces)
    var random = SplitMix64(seed: seed)
    var limits = SyncService.Limits()
    limits.users = random.choose(1, 2, 3, 100)
    limits.sets = random.choose(1, 2, 5, 100)
    limits.hiddenPages = random.choose(1, 20)
    loss = fault?.needsLoss == true ? 2 : random.choose(0, 2, 4, 8)
    repetition = random.choose(0, 3, 6)
    let all = [
      "restore", "file restore", "compact", "purge", "grant", "subset", "copy", "older", "tamper", "local compact",
    ]
    hostilities =
      fault?.focus
      ?? (writes ? all + ["subject", "discard", "forget", "erase", "overtaken page", "lost sets"] : all).filter { _ in
        random.oneIn(4)
      }
    isHuge = fault == nil && random.oneIn(12)
    server = try SimulatedServer(in: database, limits)
    self.random = random
  }

  func say(_ text: @autoclosure () -> String) { if traces { print(text()) } }

  func note(_ what: String, _ count: Int = 1) { counts[what, default: 0] += count }

  // MARK: Running

  func run(steps: Int) async throws {
    for _ in 0..<random.choose(0, 3, 8) { try writeAtServer() }
    for _ in 0..<random.choose(1, 2, 3) { try addReplica() }
    if random.oneIn(2) { try await settle(turns: 100, mayFail: true) }
    for _ in 0..<steps { try await step() }
    try await settle(turns: 400, mayFail: false)
    for process in processes { try judgeEnd(process) }
    if writes { note("decided", server.decisions.count) }
  }

  func judgeEnd(_ process: Process) throws {
    try process.replica.judgePurges(server)
    try process.replica.judgeResults(server)
    let findings = try process.store.check().filter { $0.severity == .problem && $0.kind != .value }
    guard findings.isEmpty else { throw Wrong("check of \(process.replica.path): \(findings)") }
  }

  func close() {
    for process in processes { process.store.close() }
    server.close()
  }

  func step() async throws {
    if messages.count > 12 { messages.remove(at: below(messages.count)) }
    if !messages.isEmpty, random.oneIn(2) { return try await deliver() }
    switch below(100) {
    case 0..<42: try await advance(processes[below(processes.count)])
    case 42..<(writes ? 54 : 70): try writeAtServer()
    case 54..<70: try writeAtReplica(processes[below(processes.count)])
    case 70..<74: try kill(processes[below(processes.count)])
    case 74..<78: try writeAtReplica(processes[below(processes.count)])
    case 78..<81: try addProcess()
    default: try await beHostile()
    }
  }

  func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// The network is whole, and nobody writes: every replica must reach the server.
  func settle(turns: Int, mayFail: Bool) async throws {
    messages = []
    isSettling = true
    defer { isSettling = false }
    for process in processes { process.subject = process.replica.subject }
    for _ in 0..<turns {
      for process in processes {
        try await advance(process)
        while !messages.isEmpty { try await pass(messages.removeFirst()) }
      }
      if try processes.allSatisfy({ try $0.replica.judgeRest(server) }) { return }
    }
    if !mayFail { throw Wrong("replicas did not come to rest") }
  }

  // MARK: Replicas

  func addReplica() throws {
    count += 1
    let path = "\(folder)/replica\(count).db"
    let store = try UserStore(path: path, configuration: SimulatedServer.configuration)
    let users: UserStoreSync.Replica.Users = fault?.needsSubsets == true || random.oneIn(3) ? subset() : .all
    let takesWrites = writes && !random.oneIn(6)
    _ = try makeReplica(store, users, takesWrites ? .queued : .none)
    let replica = try SimulatedReplica(at: path, of: writes ? "person\(count % 2)" : "", takesWrites: takesWrites)
    processes.append(Process(replica, store))
    try replica.judge(server)
  }

  func subset() -> UserStoreSync.Replica.Users {
    .ids((0..<random.choose(1, 2, 4)).map { _ in User.ID(Int64.random(in: 1...8, using: &random)) })
  }

  func makeReplica(
    _ store: UserStore, _ users: UserStoreSync.Replica.Users, _ writes: UserStoreSync.Replica.Writes
  ) throws -> UserStoreSync.Replica {
    try UserStoreSync.Replica(of: store, from: Nowhere(), users: users, writes: writes)
  }

  func advance(_ process: Process) async throws { try await take(next(process), process) }

  func take(_ step: ReplicaStep?, _ process: Process) async throws {
    guard let step else {
      say("\(process.replica.path) begins")
      return try transaction(process) { try process.store.write { try ReplicaStep.begin(in: &$0) } }
    }
    guard case .ask(let request) = step.action else {
      say("\(process.replica.path) installs")
      note("copies")
      return try transaction(process) { _ = try process.store.write { try step.install(in: &$0) } }
    }
    say("\(process.replica.path) asks \(request.path)?\(request.query)")
    let earlier = try step.push.map { try process.replica.earlier(than: $0.sets[0].nonce) } ?? []
    messages.append(.request(process, step, request, subject: process.subject, earlier: earlier))
  }

  func next(_ process: Process) throws -> ReplicaStep? {
    // The watcher of the log does this in a process that runs.
    if isSettling || random.oneIn(3) { try takeIn(process) }
    let push: ReplicaStep.PushSize? = isSettling ? .batch : random.choose(nil, .single, .batch, .batch)
    return try next(process, push: push)
  }

  func next(_ process: Process, push: ReplicaStep.PushSize?) throws -> ReplicaStep? {
    try process.store.read { transaction in
      guard fault == .pushDoesNotWait else { return try ReplicaStep.next(in: &transaction, wait: 0, push: push) }
      let tables = try PartTables(transaction.session)
      var file = try ReplicaFile(tables)
      let sets = try push.flatMap { try Outbox(tables: tables).push(file, isSingle: $0 == .single) }
      if sets != nil { file.answered = nil }
      return ReplicaStep(file, wait: 0, push: sets)
    }
  }

  func takeIn(_ process: Process) throws {
    guard process.replica.takesWrites else { return }
    try transaction(process) { try process.store.write { try ReplicaTransaction.run(in: &$0) { _ in } } }
  }

  func transaction(
    _ process: Process, applying answer: ReplicaAnswer? = nil, _ restores: Int? = nil, _ body: () throws -> Void
  ) throws {
    let (wasCopying, plain) = (try process.replica.isCopying, process.replica.plain)
    let tables = try fault.map { _ in try ReplicaTables(plain) }
    try fault?.prepare(plain, for: answer)
    let numbers = try answer.map { try process.replica.numbers(of: $0) }
    try body()
    if let fault, let tables { try fault.alter(plain, since: tables, answer, isKilled: random.oneIn(2)) }
    process.replica.hasCopied = try wasCopying && !process.replica.isCopying
    try process.replica.judge(server, restores: restores)
    if let numbers { try process.replica.judge(numbers) }
    note("transactions")
  }

  // MARK: The network

  func deliver() async throws {
    let index = below(messages.count)
    let message = messages[index]
    let isRepeated = repetition > 0 && random.oneIn(repetition)
    if !isRepeated { messages.remove(at: index) } else { note("repeated") }
    if loss > 0, random.oneIn(loss) {
      note("lost")
      return
    }
    try await pass(message)
  }

  func pass(_ message: Message) async throws {
    switch message {
    case .request(let process, let step, let request, let subject, let earlier):
      if fault == .setsSentOnce, let push = step.push, !push.sets.allSatisfy({ sent.insert($0.nonce).inserted }) {
        return
      }
      let received = try fault?.request(request, of: step, process.replica, subject: subject, server) ?? request
      if let push = step.push { try fault?.prepare(server, for: push) }
      let before = try step.push.map { try PushMoment(server, before: $0, by: subject, after: earlier) }
      let (status, body) = try await server.answer(received, grant: server.grant, subject: subject)
      if let push = step.push, let before { try judge(push, before, status == 200 ? body : nil) }
      say("the server answers \(status) to \(request.path)?\(request.query)")
      let grant = try process.replica.grant
      let altered = status == 200 ? fault?.answer(body, to: received, step, grant: grant) ?? body : body
      messages.append(.answer(process, step, request, status: status, body: altered, restores: server.restores))
    case .answer(let process, let step, let request, let status, let body, let restores):
      // The process has ended meanwhile, or its file was copied over.
      guard processes.contains(where: { $0 === process }) else { return }
      say(
        "\(process.replica.path) receives \(status) \(request.path): \(String(decoding: body.prefix(600), as: UTF8.self))"
      )
      var (answer, step) = (ReplicaAnswer.lost, step)
      do {
        answer = try await ReplicaAnswer(SyncResponse(status: status, body: body), to: request)
      } catch is SyncFailure {
        return note("failures")
      } catch is UserStoreSync.Replica.Problem {
        return note("problems")
      }
      if let fault {
        answer = try fault.answer(answer, to: step, process.replica, server)
        step = fault.step(step, now: try next(process, push: nil))
      }
      try transaction(process, applying: answer, restores) {
        let outcome: ReplicaOutcome
        do { outcome = try process.store.write { try step.apply(answer, in: &$0) } } catch is UserStoreSync.Replica
          .Problem
        {
          return note("problems")
        }
        if outcome.isLate { note("late") }
        if outcome.hasBegun { note("copies begun") }
        if outcome.hasPurged { note("purges received") }
      }
    }
  }

  // MARK: Processes

  func kill(_ process: Process) throws {
    note("kills")
    messages.removeAll { $0.process === process }
    process.store.close()
    process.store = try UserStore(path: process.replica.path, configuration: SimulatedServer.configuration)
  }

  /// A second process on the file of a replica.
  func addProcess() throws {
    let first = processes[below(processes.count)]
    guard processes.filter({ $0.replica === first.replica }).count == 1 else { return }
    note("second processes")
    processes.append(
      Process(first.replica, try UserStore(path: first.replica.path, configuration: SimulatedServer.configuration)))
  }

  /// Closes a replica's file for `body`, which copies or replaces it.
  func whileClosed(_ replica: SimulatedReplica, _ body: () throws -> Void) throws {
    let users = processes.filter { $0.replica === replica }
    try replica.pause()
    for process in users { process.store.close() }
    try body()
    for process in users {
      process.store = try UserStore(path: replica.path, configuration: SimulatedServer.configuration)
    }
    try replica.resume()
  }
}

/// A transport that is never used: the history passes the messages on.
struct Nowhere: SyncTransport {
  let address = "https://users.example.com"
  func send(_ request: SyncRequest) async throws -> SyncResponse { throw CancellationError() }
}
