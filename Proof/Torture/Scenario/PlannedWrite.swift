import TortureSupport
import UserStore

/// A write that can be found in the log: its name is the origin of the set and part of a value.
struct PlannedWrite: Sendable {
  let name: String
  private let user: UserStore.User.ID
  private let payload: String
  private let further: Further

  private enum Further {
    case nothing, rename, number(Int64), unsetNumber, bytes([UInt8]), addAnother
  }

  init(_ name: String, _ random: inout SplitMix64) {
    self.name = name
    user = UserStore.User.ID(Int64.random(in: 1...4, using: &random))
    let length = random.oneIn(3) ? Int.random(in: 500...5_000, using: &random) : Int.random(in: 0...60, using: &random)
    payload = String(repeating: "x", count: length)
    further =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .rename
      case 1: .number(Int64.random(in: .min ... .max, using: &random))
      case 2: .unsetNumber
      case 3: .bytes((0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) })
      case 4: .addAnother
      default: .nothing
      }
  }

  /// Does not depend on earlier writes, because one of them may have failed.
  func perform(in users: inout UserStore.WriteTransaction) throws {
    if try users.storedValue("name", of: user).isNull {
      try users.add([(attribute: "name", value: .text("user \(user)"))], as: user)
    }
    try users.set("last", of: user, to: .text(name + ":" + payload))
    switch further {
    case .nothing: break
    case .rename: try users.rename(user, to: "renamed by \(name)")
    case .number(let number): try users.set("number", of: user, to: .integer(number))
    case .unsetNumber: try users.set("number", of: user, to: .null)
    case .bytes(let bytes): try users.set("bytes", of: user, to: .blob(bytes))
    case .addAnother: try users.add(name: "added by \(name)")
    }
  }
}
