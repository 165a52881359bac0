import Foundation
import TortureSupport

/// Checks one rule in a record (Faults/README.md): under FULL, a write is acknowledged only after everything that was
/// written to the -wal file is synced.
enum SyncedBeforeAcknowledged {
  static func violations(inRecordAt path: String) -> [String] {
    guard let data = FileManager.default.contents(atPath: path) else { return ["there is no record"] }
    var isDirty = false
    var violations: [String] = []
    forEach(in: [UInt8](data)) { operation, path, text in
      let isLog = path.hasSuffix("-wal")
      if operation == UInt8(ascii: "w"), isLog { isDirty = true }
      if operation == UInt8(ascii: "s"), isLog { isDirty = false }
      guard operation == UInt8(ascii: "a"), text.hasPrefix("written "),
        case .written(let name, _) = Announcement(text.dropLast())
      else { return }
      if isDirty { violations.append("\(name) was acknowledged before it was synced") }
    }
    return violations
  }

  private static func forEach(in bytes: [UInt8], _ body: (_ operation: UInt8, _ path: String, _ text: String) -> Void) {
    var place = 0
    func number(_ width: Int) -> Int {
      defer { place += width }
      return bytes[place..<place + width].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func text(_ length: Int) -> String {
      defer { place += length }
      return String(decoding: bytes[place..<place + length], as: UTF8.self)
    }
    while place + 19 <= bytes.count {
      let operation = UInt8(number(1))
      let path = text(number(2))
      place += 8
      let length = number(8)
      if operation == UInt8(ascii: "a") {
        body(operation, path, text(length))
      } else {
        place += length
        body(operation, path, "")
      }
    }
  }
}
