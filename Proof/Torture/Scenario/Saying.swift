import Glibc
import TortureSupport
import UserStore

/// Prints an announcement with one system call, so that two are never mixed.
///
/// A line without an end does not count.
func say(_ announcement: Announcement) {
  let line = Array("\(announcement)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

extension Announcement {
  static func failed(_ name: String, _ error: any Error) -> Announcement {
    let error = error as? StoreError
    return .failed(name, code: error?.code.rawValue ?? "foreignError", message: error?.message ?? "")
  }
}

extension AnnouncedSet {
  /// A set from the library.
  ///
  /// One that reports a reset has no changes.
  init(_ set: UserStore.ChangeSet) throws {
    let changes = try set.changes.map { change in
      AnnouncedChange(
        kind: change.kind == .added ? "a" : change.kind == .removed ? "r" : "u", user: change.user.rawValue,
        attribute: Array(change.attribute.text.utf8), old: PlainValue(change.old), new: PlainValue(change.new))
    }
    self.init(cursor: set.cursor.description, origin: set.discontinuity == nil ? set.origin : "reset", changes: changes)
  }
}

extension PlainValue {
  init(_ value: StoredValue) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .real(let real): self = .real(real)
    case .text(let text): self = .text(Array(text.utf8))
    case .invalidText(let bytes): self = .text(bytes)
    case .blob(let bytes): self = .blob(bytes)
    }
  }
}
