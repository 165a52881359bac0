import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// What is written at the server and at replicas, and what the server does with it.
extension World {
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

  func writeAtServer() throws {
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
    guard let id else { return try server.writeAsForeign(["INSERT INTO users (name) VALUES ('foreign')"]) }
    try server.writeAsForeign(server.database.foreignStatements(below(6), of: id, number: below(5)))
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

  func writeAtReplica(_ process: Process) throws {
    guard process.replica.takesWrites else { return try writeInVain(process) }
    let last = try process.replica.lastRow
    if fault == .idsFromTheSequence, random.oneIn(3) {
      try process.replica.addWithNextID()
    } else if random.oneIn(3) {
      note("foreign writes of replicas")
      try process.replica.write(random.choose(0, 1, 2, 3, 4, 5, 6, 7), number: written)
      if fault?.needsEqualValues != true { written += 1 }
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
      switch below(fault?.needsSubsets == true ? 5 : 12) {
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
  struct PushMoment {
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
  func judge(_ push: Push, _ before: PushMoment, _ answer: [UInt8]?) throws {
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
        let number = SimulatedServer.SetNumber(producer: push.producer, number: set.number)
        if let other = server.numbers.updateValue(set.nonce, forKey: number), other != set.nonce {
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
}
