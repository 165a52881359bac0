import TestSupport
import UserStore

@testable import UserStoreSync

extension Fault {
  /// Changes the server's file before it decides about sets.
  func prepare(_ server: SimulatedServer, for push: Push) throws {
    let plain = try PlainConnection(server.path, busyTimeout: 1_000)
    func forEachSet(_ sql: String) throws {
      for set in push.sets { try plain.run(sql, [.integer(set.nonce), .integer(push.producer), .integer(set.number)]) }
    }
    switch self {
    case .setsDecidedAgain:
      try forEachSet("DELETE FROM userstore_decisions WHERE nonce = ?1 OR producer = ?2 AND number = ?3")
    case .onlyLastResultKept:
      try plain.run(
        """
        DELETE FROM userstore_decisions WHERE producer = ?1
          AND number < (SELECT max(number) FROM userstore_decisions WHERE producer = ?1)
        """, [.integer(push.producer)])
    case .identityIsTheNumber:
      try forEachSet(
        "UPDATE userstore_decisions SET nonce = random() WHERE nonce = ?1 AND (producer, number) IS NOT (?2, ?3)")
    case .copiesKeepTheName:
      try forEachSet(
        """
        UPDATE userstore_decisions SET producer = 1 + abs(random() / 2)
        WHERE producer = ?2 AND number = ?3 AND nonce IS NOT ?1
        """)
    case .forgettingIsForgotten: try plain.run("DELETE FROM userstore_producers")
    default: break
    }
  }
}

extension SimulatedServer {
  /// The set that was decided under a name and number.
  func nonce(of producer: Int64, _ number: Int64) throws -> Int64? {
    try PlainConnection(path).integer(
      "SELECT nonce FROM userstore_decisions WHERE producer = \(producer) AND number = \(number)")
  }

  /// The name and number under which a set was decided.
  func number(of nonce: Int64) throws -> (producer: Int64, number: Int64)? {
    let row = try PlainConnection(path)
      .run("SELECT producer, number FROM userstore_decisions WHERE nonce = \(nonce)").first
    guard case .integer(let producer)? = row?[0], case .integer(let number)? = row?[1] else { return nil }
    return (producer, number)
  }
}
