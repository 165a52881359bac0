import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// One history: a server and its replicas, in one thread, with all choices from a seed.
///
/// After every transaction, the judge compares.
final class World {
  /// A process that has a replica's file open.
  private final class Process {
    let replica: SimulatedReplica
    var store: UserStore
    /// As whom it asks.
    var subject: String

    init(_ replica: SimulatedReplica, _ store: UserStore) {
      (self.replica, self.store, subject) = (replica, store, replica.subject)
    }
  }

  private enum Message {
    /// `earlier`: the sets that the server must have decided before those that are sent.
    case request(Process, ReplicaStep, SyncRequest, subject: String, earlier: [Int64])
    case answer(Process, ReplicaStep, SyncRequest, status: Int, body: [UInt8])

    var process: Process {
      switch self {
      case .request(let process, _, _, _, _), .answer(let process, _, _, _, _): process
      }
    }

    var isPush: Bool {
      switch self {
      case .request(_, let step, _, _, _), .answer(_, let step, _, _, _): step.push != nil
      }
    }
  }

  /// How a rule is broken in this history, to see that the judge notices.
  let fault: Fault?
  private var random: SplitMix64
  private let folder: String
  private let server: SimulatedServer
  private var processes: [Process] = []
  private var messages: [Message] = []
  private var count = 0
  private(set) var counts: [String: Int] = [:]
  private let traces: Bool
  private var isSettling = false

  // What happens in this history, and how often.
  private let loss: Int
  private let repetition: Int
  private let hostilities: [String]
  private let isHuge: Bool
  /// Whether replicas are written, too.
  private let writes: Bool
  private var written = 1_000
  /// For whom each row was written.
  private var authors: [Int64: String] = [:]
  /// The set that was decided under each name and number.
  private var numbers: [SetNumber: Int64] = [:]
  /// The sets that were sent.
  private var sent: Set<Int64> = []

  private struct SetNumber: Hashable {
    let producer: Int64
    let number: Int64
  }

  init(seed: UInt64, in folder: String, fault: Fault? = nil, writes: Bool, traces: Bool = false) throws {
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
      fault?.focus ?? (writes ? all + ["subject", "discard", "forget"] : all).filter { _ in random.oneIn(4) }
    isHuge = fault == nil && random.oneIn(12)
    server = try SimulatedServer(in: folder, limits)
    self.random = random
  }

  private func say(_ text: @autoclosure () -> String) { if traces { print(text()) } }

  private func note(_ what: String, _ count: Int = 1) { counts[what, default: 0] += count }

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

  private func judgeEnd(_ process: Process) throws {
    try process.replica.judgePurges(server)
    try process.replica.judgeResults(server)
    let findings = try process.store.check().filter { $0.severity == .problem && $0.kind != .value }
    guard findings.isEmpty else { throw Wrong("check of \(process.replica.path): \(findings)") }
  }

  func close() {
    for process in processes { process.store.close() }
    server.close()
  }

  private func step() async throws {
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

  private func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// The network is whole, and nobody writes: every replica must reach the server.
  private func settle(turns: Int, mayFail: Bool) async throws {
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

  private func addReplica() throws {
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

  private func subset() -> UserStoreSync.Replica.Users {
    .ids((0..<random.choose(1, 2, 4)).map { _ in User.ID(Int64.random(in: 1...8, using: &random)) })
  }

  private func makeReplica(
    _ store: UserStore, _ users: UserStoreSync.Replica.Users, _ writes: UserStoreSync.Replica.Writes
  ) throws -> UserStoreSync.Replica {
    try UserStoreSync.Replica(of: store, from: Nowhere(), users: users, writes: writes)
  }

  private func advance(_ process: Process) async throws {
    guard let step = try next(process) else {
      say("\(process.replica.path) begins")
      return try transaction(process) { try process.store.write { try ReplicaStep.begin(in: &$0) } }
    }
    guard case .ask(let request) = step.action else {
      say("\(process.replica.path) installs")
      note("copies")
      return try transaction(process) { _ = try process.store.write { try step.install(in: &$0) } }
    }
    if fault?.delaysPages == true, step.push == nil, messages.contains(where: { $0.process === process && !$0.isPush })
    {
      return
    }
    say("\(process.replica.path) asks \(request.path)?\(request.query)")
    let earlier = try step.push.map { try process.replica.earlier(than: $0.sets[0].nonce) } ?? []
    messages.append(.request(process, step, request, subject: process.subject, earlier: earlier))
  }

  private func next(_ process: Process) throws -> ReplicaStep? {
    // The watcher of the log does this in a process that runs.
    if isSettling || random.oneIn(3) { try takeIn(process) }
    let push: ReplicaStep.PushSize? = isSettling ? .batch : random.choose(nil, .single, .batch, .batch)
    return try next(process, push: push)
  }

  private func next(_ process: Process, push: ReplicaStep.PushSize?) throws -> ReplicaStep? {
    try process.store.read { transaction in
      guard fault == .pushDoesNotWait else { return try ReplicaStep.next(in: &transaction, wait: 0, push: push) }
      let tables = try PartTables(transaction.session)
      var file = try ReplicaFile(tables)
      let sets = try push.flatMap { try Outbox(tables: tables).push(file, isSingle: $0 == .single) }
      if sets != nil { file.answered = nil }
      return ReplicaStep(file, wait: 0, push: sets)
    }
  }

  private func takeIn(_ process: Process) throws {
    guard process.replica.takesWrites else { return }
    try transaction(process) { try process.store.write { try ReplicaTransaction.run(in: &$0) { _ in } } }
  }

  private func transaction(
    _ process: Process, applying answer: ReplicaAnswer? = nil, _ body: () throws -> Void
  ) throws {
    let (wasCopying, plain) = (try process.replica.isCopying, process.replica.plain)
    let tables = try fault.map { _ in try ReplicaTables(plain) }
    try fault?.prepare(plain, for: answer)
    let numbers = try answer.map { try process.replica.numbers(of: $0) }
    try body()
    if let fault, let tables { try fault.alter(plain, since: tables, answer, isKilled: random.oneIn(2)) }
    process.replica.hasCopied = try wasCopying && !process.replica.isCopying
    try process.replica.judge(server)
    if let numbers { try process.replica.judge(numbers) }
    note("transactions")
  }

  // MARK: The network

  private func deliver() async throws {
    let push = fault?.delaysPages == true ? messages.firstIndex(where: \.isPush) : nil
    if fault?.delaysPages == true, push == nil, !random.oneIn(4) { return }
    let index = push ?? below(messages.count)
    let message = messages[index]
    let isRepeated = repetition > 0 && random.oneIn(repetition)
    if !isRepeated { messages.remove(at: index) } else { note("repeated") }
    if loss > 0, random.oneIn(loss) {
      note("lost")
      return
    }
    try await pass(message)
  }

  private func pass(_ message: Message) async throws {
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
      messages.append(.answer(process, step, request, status: status, body: altered))
    case .answer(let process, let step, let request, let status, let body):
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
      try transaction(process, applying: answer) {
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

  private func kill(_ process: Process) throws {
    note("kills")
    messages.removeAll { $0.process === process }
    process.store.close()
    process.store = try UserStore(path: process.replica.path, configuration: SimulatedServer.configuration)
  }

  /// A second process on the file of a replica.
  private func addProcess() throws {
    let first = processes[below(processes.count)]
    guard processes.filter({ $0.replica === first.replica }).count == 1 else { return }
    note("second processes")
    processes.append(
      Process(first.replica, try UserStore(path: first.replica.path, configuration: SimulatedServer.configuration)))
  }

  /// Closes a replica's file for `body`, which copies or replaces it.
  private func whileClosed(_ replica: SimulatedReplica, _ body: () throws -> Void) throws {
    let users = processes.filter { $0.replica === replica }
    try replica.pause()
    for process in users { process.store.close() }
    try body()
    for process in users {
      process.store = try UserStore(path: replica.path, configuration: SimulatedServer.configuration)
    }
    try replica.resume()
  }

  // MARK: Writing

  private static let attributes = ["a", "b", "c d", "é"]

  private func value() -> StoredValue {
    if writes, fault?.needsEqualValues != true, !random.oneIn(3) {
      written += 1
      return .integer(Int64(written))
    }
    return random.choose(
      .null, .integer(Int64(below(3))), .real(Double(below(3))), .real(.infinity), .text("v\(below(5))"),
      .text("“é”\n\u{0}\u{1b}"),
      .blob([0, 255]), .integer(.min), .text(""))
  }

  private func writeAtServer() throws {
    let users = server.users.keys.sorted()
    let id = users.isEmpty ? nil : users[below(users.count)]
    note("server writes")
    if random.oneIn(12) { return try server.post("event\(below(1000))", about: random.oneIn(3) ? nil : id) }
    if random.oneIn(4) { return try writeForeign(id) }
    if isHuge, random.oneIn(6), let id { return try writeHugely(id) }
    let origin: String? = random.choose(nil, "app", "")
    let changes = random.choose(1, 1, 1, 2, 4)
    try server.write(origin: origin) { transaction in
      for _ in 0..<changes { try change(&transaction) }
    }
  }

  private func change(_ transaction: inout WriteTransaction) throws {
    let users = try transaction.users().map(\.id)
    let id = users.isEmpty ? nil : users[below(users.count)]
    switch below(10) {
    case 0..<2:
      _ = try transaction.add(name: "n\(below(9))", hairColor: random.oneIn(2) ? nil : UserStore.Color("auburn"))
    case 2 where users.count < 8:
      // Added again under an id that was used before.
      let id = User.ID(Int64.random(in: -2...8, using: &random))
      if try transaction.user(id) == nil { _ = try transaction.add([(.name, .text("again"))], as: id) }
    case 3: if let id { try transaction.remove(id) }
    case 4: if let id { try transaction.rename(id, to: "m\(below(9))") }
    default:
      if let id { try transaction.set(AttributeName(Self.attributes[below(4)]), of: id, to: value()) }
    }
  }

  private func writeForeign(_ id: Int64?) throws {
    guard let id else {
      return try server.writeAsForeign([("INSERT INTO users (name) VALUES ('foreign')", [])])
    }
    let key = PlainValue.integer(id)
    let statement: (String, [PlainValue]) = random.choose(
      ("UPDATE users SET name = ? WHERE id = ?", [.text([0xFF, UInt8(below(5))]), key]),
      ("REPLACE INTO users (id, name) VALUES (?, 'replaced')", [key]),
      ("REPLACE INTO attributes (user_id, name, value) VALUES (?, 'a', ?)", [key, .text([0xC3])]),
      ("UPDATE attributes SET value = value || 'x' WHERE user_id = ? AND typeof(value) = 'text'", [key]),
      ("DELETE FROM attributes WHERE user_id = ?", [key]), ("DELETE FROM users WHERE id = ?", [key]))
    try server.writeAsForeign([statement, ("UPDATE users SET hair_color = '#00000' || (id % 10)", [])])
  }

  private func writeHugely(_ id: Int64) throws {
    note("huge sets")
    let first = value()
    try server.write(origin: "huge") { transaction in
      try transaction.set(AttributeName("b"), of: User.ID(id), to: first)
      for number in 0..<1_300 {
        try transaction.set(AttributeName("a"), of: User.ID(id), to: .integer(Int64(number + 10)))
      }
      try change(&transaction)
    }
  }

  private func writeAtReplica(_ process: Process) throws {
    guard process.replica.takesWrites else { return try writeInVain(process) }
    let last = try process.replica.lastRow
    if fault == .idsFromTheSequence, random.oneIn(3) {
      try process.replica.addWithNextID()
    } else if random.oneIn(3) {
      note("foreign writes of replicas")
      try process.replica.write(random.choose(0, 1, 2, 3, 4, 5, 6, 7), number: written)
      written += 1
    } else {
      note("writes of replicas")
      do { try process.store.write(origin: random.choose(nil, "own")) { try writeOwn(&$0) } } catch let error
        as StoreError
        where [.conflict, .revisionNotFound, .badValue, .userNotFound].contains(error.code)
      {}
    }
    say("\(process.replica.path) writes the rows after \(last)")
    for nonce in try process.replica.noteOwn(after: last, server) { authors[nonce] = process.replica.subject }
    try process.replica.judge(server, isLocal: true)
  }

  private func writeOwn(_ transaction: inout WriteTransaction) throws {
    if random.oneIn(6) {
      _ = try transaction.undo()
      return
    }
    for _ in 0..<random.choose(1, 1, 1, 2, 3) {
      let users = try transaction.users().map(\.id)
      let id = users.isEmpty ? nil : users[below(users.count)]
      let attribute = AttributeName(Self.attributes[below(4)])
      switch below(12) {
      case 0..<2:
        _ = try transaction.add(name: "own\(below(9))", hairColor: random.oneIn(2) ? nil : UserStore.Color("auburn"))
      case 2:
        // Added again under an id that was used before.
        let id = User.ID(Int64.random(in: 1...8, using: &random))
        if try transaction.user(id) == nil { _ = try transaction.add([(.name, .text("again"))], as: id) }
      case 3: if let id { try transaction.remove(id) }
      case 4: if let id { try transaction.rename(id, to: "mine\(below(9))") }
      case 5: try transaction.post("own\(below(1000))", about: random.oneIn(3) ? nil : id)
      case 6..<8:
        guard let id else { break }
        let expected = try transaction.storedValue(attribute, of: id)
        try transaction.set(attribute, of: id, to: value(), expecting: expected)
      default: if let id { try transaction.set(attribute, of: id, to: value()) }
      }
    }
  }

  /// What is true when a request with sets reaches the server.
  private struct PushMoment {
    let records: Records
    let known: Set<Int64>
    let isInLog: Bool
    let subject: String
    /// The sets that must have been decided before.
    let earlier: [Int64]

    init(_ server: SimulatedServer, before push: Push, by subject: String, after earlier: [Int64]) throws {
      (records, known) = (server.users, Set(server.decisions.keys))
      (isInLog, self.subject, self.earlier) = (try server.hasInLog(push.cursor), subject, earlier)
    }
  }

  /// What the server decides keeps the order of a replica, is for whom it was written, and does what was written.
  private func judge(_ push: Push, _ before: PushMoment, _ answer: [UInt8]?) throws {
    var (earlier, records) = (before.earlier, before.records)
    let expired =
      try answer.map { try PushAnswer($0).results.filter { $0.decision.result == "expired" }.map(\.nonce) } ?? []
    for set in push.sets {
      if let decision = server.decisions[set.nonce], !before.known.contains(set.nonce) {
        note("sets decided")
        guard authors[set.nonce] == before.subject else {
          throw Wrong("a set was decided for \(before.subject), who did not write it")
        }
        if let missing = earlier.first(where: { server.decisions[$0] == nil }) {
          throw Wrong("the set \(set.nonce) was decided before the earlier set \(missing)")
        }
        guard before.isInLog else {
          throw Wrong("a set was decided for a replica at \(push.cursor), which is not in the log")
        }
        let number = SetNumber(producer: push.producer, number: set.number)
        if let other = numbers.updateValue(set.nonce, forKey: number), other != set.nonce,
          server.decisions[other] != nil
        {
          throw Wrong("the sets \(other) and \(set.nonce) were decided under one name and number")
        }
        if decision == "accepted" { try records.apply(set) }
      }
      if !expired.contains(set.nonce) { earlier.append(set.nonce) }
    }
    guard records == server.users else {
      throw Wrong("the sets make\n\(LogCheck.show(records))\nthe server has\n\(LogCheck.show(server.users))")
    }
  }

  /// Neither the library nor another program can write.
  private func writeInVain(_ process: Process) throws {
    note("refused writes")
    try process.replica.writeAsForeign(below(100))
    do {
      try process.store.write { transaction in _ = try transaction.add(name: "own") }
      throw Wrong("a replica was written")
    } catch StoreError.Code.readOnlyReplica {}
  }

  // MARK: Hostilities

  private func beHostile() async throws {
    guard !hostilities.isEmpty else { return }
    let process = processes[below(processes.count)]
    let kind = hostilities[below(hostilities.count)]
    say(kind)
    switch kind {
    case "restore", "file restore":
      if !server.hasBackup || random.oneIn(2) { return try server.backUp() }
      try server.restore(
        below(100), asFile: kind == "file restore", keepsDecisions: fault == .decisionsSurviveRestore)
      if random.oneIn(2) { messages = [] }
    case "compact": try server.compact(keeping: random.choose(1, 5, 20))
    case "purge":
      let gone = (1...8).map(Int64.init).filter { server.users[$0] == nil }
      guard !gone.isEmpty else { return }
      try server.purge(gone[below(gone.count)])
    case "grant":
      server.deny(Set((0..<below(3)).map { _ in Int64.random(in: 1...8, using: &random) }))
    case "subset":
      let writes: UserStoreSync.Replica.Writes = process.replica.takesWrites ? .queued : .none
      try transaction(process) { _ = try makeReplica(process.store, random.oneIn(2) ? .all : subset(), writes) }
      process.replica.noteSubset()
    case "subject":
      // Before the first answer, nobody knows whose the file is.
      if try process.replica.isKnown() { process.subject = random.choose("person0", "person1") }
    case "discard":
      guard process.replica.takesWrites else { return }
      process.replica.noteDiscard()
      try transaction(process) {
        try process.store.write { try ReplicaTransaction.run(in: &$0, discarding: true) { _ in } }
      }
    case "forget":
      let (producer, number) = try process.replica.confirmed
      try server.forgetDecisions(through: number, of: producer)
    case "copy":
      guard processes.count < 5 else { return }
      // Rows that were not taken in have no identity yet: both files would send them.
      try takeIn(process)
      count += 1
      let path = "\(folder)/replica\(count).db"
      var copy: SimulatedReplica?
      try whileClosed(process.replica) { copy = try process.replica.copied(to: path) }
      processes.append(
        Process(copy!, try UserStore(path: path, configuration: SimulatedServer.configuration)))
    case "older":
      let isBack = process.replica.hasSnapshot && random.oneIn(2)
      if !isBack { try takeIn(process) }
      let number = below(100)
      try whileClosed(process.replica) {
        if isBack { try process.replica.rollBack(number) } else { try process.replica.takeSnapshot() }
      }
      // An older file may not know whose it is.
      for process in processes { process.subject = process.replica.subject }
    case "tamper" where process.replica.takesWrites: return
    case "tamper": try process.replica.tamper(isHidden: fault == .foreignWritesNotSeen)
    default:
      try process.replica.compact(process.store)
      try fault?.compact(process.replica.plain)
    }
    note(kind)
  }
}

/// A transport that is never used: the history passes the messages on.
struct Nowhere: SyncTransport {
  let address = "https://users.example.com"
  func send(_ request: SyncRequest) async throws -> SyncResponse { throw CancellationError() }
}
