import Foundation
import TortureSupport

/// What a store went through in a recording: every state that one of its writes left, in order.
struct LifeHistory {
  /// The state after a set.
  struct Point {
    /// Nil for the beginning.
    let set: AnnouncedSet?
    let cursor: CursorText?
    let users: [Int64: Replica.User]

    var revision: Int64 { cursor?.revision ?? 0 }
  }

  struct Incomplete: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var points: [Point]
  /// Which point a write made, by the write's name.
  private(set) var named: [String: Int] = [:]
  /// Where a write that acknowledged a set in itself ended, and which set that was.
  private(set) var effects: [(effect: Int, covered: Int)] = []
  private var revisions: [Int64: Int] = [0: 0]
  private var values: [Int64: Set<[UInt8]>] = [:]

  /// - Parameters:
  ///   - recording: Announces the sets.
  ///   - folder: Where the files are made once more that it left.
  /// - Throws: `Incomplete`.
  init(of recording: Recording, layingOut folder: String) throws {
    var disk = Disk()
    for step in recording.steps { disk.apply(step) }
    try disk.image(.everything(of: disk)).lay(out: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try self.init(of: recording, endingWith: ImageLog(PlainConnection("\(folder)/\(ImageJudge.database)")))
  }

  /// - Parameters:
  ///   - recording: Announces the sets.
  ///   - log: What lay in the file at the end: a write that failed is told of by nobody, and may be there.
  /// - Throws: when a set is in neither.
  init(of recording: Recording, endingWith log: ImageLog) throws {
    points = [Point(set: nil, cursor: nil, users: [:])]
    var sets: [Int64: AnnouncedSet] = [:]
    for set in log.sets { sets[CursorText(set.cursor)?.revision ?? 0] = set }
    var told: Set<Int64> = []
    for case .announce(let announcements) in recording.steps {
      for case .told(let set) in announcements where set.origin != "reset" {
        guard let revision = CursorText(set.cursor)?.revision else { throw Incomplete(description: set.cursor) }
        // In the file, and told again, it may have lost values by a purge.
        if told.insert(revision).inserted { sets[revision] = set }
      }
    }
    for (_, set) in sets.sorted(by: { $0.key < $1.key }) { try append(set) }
  }

  private mutating func append(_ set: AnnouncedSet) throws {
    let last = points[points.count - 1]
    let rows = set.changes.count + (set.origin == nil ? 0 : 1)
    guard let cursor = CursorText(set.cursor), cursor.revision - last.revision == rows else {
      throw Incomplete(description: "nobody knows what came between \(last.revision) and \(set.cursor)")
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

  /// Texts that a user had, long enough not to be anybody's.
  func texts(of user: Int64) -> Set<[UInt8]> { values[user] ?? [] }

  /// The name that the write gave itself: as origin, or, where nobody gives one, in a value.
  private static func names(of set: AnnouncedSet) -> [String] {
    if let origin = set.origin { return [origin] }
    return set.changes.compactMap { change in
      guard let text = change.new.utf8, text.last == UInt8(ascii: ":") else { return nil }
      return String(decoding: text.dropLast(), as: UTF8.self)
    }
  }

  /// The point at which a log ends that ends there; nil when no set does.
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
