import Foundation
import TortureSupport

/// The history of the store in a recording: the state after each of its writes, in order.
struct LifeHistory {
  /// The state after a set.
  struct Point {
    /// Nil for the initial state.
    let set: AnnouncedSet?
    let cursor: CursorText?
    let users: [Int64: Replica.User]

    var revision: Int64 { cursor?.revision ?? 0 }
    /// Whether the set has nothing that is delivered.
    var isHidden: Bool { self.set?.changes.isEmpty ?? false }
  }

  struct Incomplete: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var points: [Point]
  /// The point of each write, by the write's name.
  private(set) var named: [String: Int] = [:]
  /// The points of writes that acknowledged a set together with an effect, and the points of those sets.
  private(set) var effects: [(effect: Int, covered: Int)] = []
  private var revisions: [Int64: Int] = [0: 0]
  private var values: [Int64: Set<[UInt8]>] = [:]

  /// Builds the history from the announcements, and from the final files, which are laid out in a folder for this.
  init(of recording: Recording, layingOut folder: String) throws {
    var disk = Disk()
    for step in recording.steps { disk.apply(step) }
    try disk.image(.everything(of: disk)).lay(out: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try self.init(of: recording, endingWith: ImageLog(PlainConnection("\(folder)/\(ImageJudge.database)")))
  }

  /// Builds the history from the announcements and the final log, which may have writes that failed and were not announced.
  ///
  /// - Throws: `Incomplete` if a set is in neither.
  init(of recording: Recording, endingWith log: ImageLog) throws {
    points = [Point(set: nil, cursor: nil, users: [:])]
    var sets: [Int64: AnnouncedSet] = [:]
    var rows: [Int64: Int64] = [:]
    for logged in log.sets {
      let revision = CursorText(logged.set.cursor)?.revision ?? 0
      (sets[revision], rows[revision]) = (logged.set, logged.rows)
    }
    var announced: Set<Int64> = []
    for case .announce(let announcements) in recording.steps {
      for case .told(let set) in announcements where set.origin != "reset" {
        guard let revision = CursorText(set.cursor)?.revision else { throw Incomplete(description: set.cursor) }
        // The first announcement counts: in the file, and when announced again, a purge may have removed values.
        if announced.insert(revision).inserted { sets[revision] = set }
      }
    }
    for (revision, set) in sets.sorted(by: { $0.key < $1.key }) { try append(set, rows: rows[revision]) }
  }

  /// Appends a set that has so many rows in the log; nil if the log has them no more.
  ///
  /// Notes are not delivered, and so not announced.
  private mutating func append(_ set: AnnouncedSet, rows: Int64?) throws {
    let last = points[points.count - 1]
    let rows = rows ?? Int64(set.changes.count) + (set.origin == nil ? 0 : 1)
    guard let cursor = CursorText(set.cursor), cursor.revision - last.revision == rows else {
      throw Incomplete(description: "the changes between \(last.revision) and \(set.cursor) were not announced")
    }
    var users = last.users
    for change in set.changes { users.apply(change) }
    points.append(Point(set: set, cursor: cursor, users: users))
    revisions[cursor.revision] = points.count - 1
    for name in Self.names(of: set) { named[name] = points.count - 1 }
    for change in set.changes { note(change) }
  }

  private mutating func note(_ change: AnnouncedChange) {
    guard let text = change.new.utf8, text.count >= 8 else { return }
    values[change.user, default: []].insert(text)
    guard change.attribute == Array("effect".utf8), let covered = point(at: String(decoding: text, as: UTF8.self))
    else {
      return
    }
    effects.append((points.count - 1, covered))
  }

  /// The texts that a user had and that are long enough to be unique.
  func texts(of user: Int64) -> Set<[UInt8]> { values[user] ?? [] }

  /// The names of the writes in a set: its origin, or for foreign writes, the values that contain a name.
  private static func names(of set: AnnouncedSet) -> [String] {
    if let origin = set.origin { return [origin] }
    return set.changes.compactMap { change in
      guard let text = change.new.utf8, text.last == UInt8(ascii: ":") else { return nil }
      return String(decoding: text.dropLast(), as: UTF8.self)
    }
  }

  /// The point whose set ends at a revision, if there is one.
  func point(at revision: Int64) -> Int? { revisions[revision] }
}

extension [Int64: Replica.User] {
  fileprivate mutating func apply(_ change: AnnouncedChange) {
    let field = LoggedChange.Field(change.attribute)
    switch (change.kind, field) {
    case ("a", .name): self[change.user] = Replica.User(name: change.new)
    case ("r", .name): self[change.user] = nil
    case ("r", _): break
    default: self[change.user]?[field] = change.new
    }
  }
}
