import TestSupport
import UserStore

@testable import UserStoreSync

/// What happens to files, the log, and access.
extension World {
  func beHostile() async throws {
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
    case "erase":
      // Of a user that undecided sets touch.
      guard let user = try process.replica.undecidedUsers.first(where: { server.users[$0] != nil }) else { return }
      try server.write(origin: nil) { try $0.remove(User.ID(user)) }
      try server.purge(user)
    case "overtaken page", "lost sets": try await overtake(process, losesSets: kind == "lost sets")
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

  /// What is written after a page was asked for is decided before the page is read; perhaps, the server's file is then restored to before
  /// that, and goes on.
  func overtake(_ process: Process, losesSets: Bool) async throws {
    if losesSets { try server.backUp() }
    try await take(next(process, push: nil), process)
    try writeAtReplica(process)
    try takeIn(process)
    try await take(next(process, push: .batch), process)
    func passAll(_ isMeant: (Message) -> Bool) async throws {
      while let index = messages.firstIndex(where: isMeant) { try await pass(messages.remove(at: index)) }
    }
    try await passAll { $0.process === process && $0.isPush }
    if losesSets {
      try server.restore(nil, asFile: true)
      for _ in 0..<3 { try writeAtServer() }
    }
    try await passAll { $0.process === process }
  }
}
