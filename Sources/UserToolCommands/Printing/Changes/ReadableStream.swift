import UserStore
import UserStoreText

/// A stream's layout for people: a line for the changes, then a line for each listener that receives them.
struct ReadableStream {
  /// The changes of one user that share a line.
  var group: [Entry] = []
  /// Who has written the set, if it is neither usertool itself nor unknown.
  var origin: String?
  private let style: Style
  private let nameColumns: Int
  private let showsDate: Bool

  private static let groupLimit = 32

  init(_ style: Style, nameColumns: Int, showsDate: Bool) {
    self.style = style
    self.nameColumns = nameColumns
    self.showsDate = showsDate
  }

  func takes(_ entry: Entry) -> Bool {
    guard let last = group.last else { return true }
    return group.count < Self.groupLimit && last.user == entry.user && last.operation == entry.operation
      && entry.event == nil
  }

  /// The lines of the group.
  ///
  /// - Parameters:
  ///   - cursor: The end of the set; nil for a dry run.
  ///   - standIns: The listeners; nil for one line per change.
  ///   - admit: Called before each counted line; false omits the line.
  /// - Returns: The lines.
  func lines(at cursor: Cursor?, to standIns: [StandIn]?, while admit: () -> Bool = { true }) -> [String] {
    guard let standIns else { return group.filter { _ in admit() }.map { header([$0], at: cursor) } }
    var lines: [String] = []
    for standIn in standIns {
      for entry in group where standIn.receives(entry) && admit() {
        if lines.isEmpty { lines.append(header(group, at: cursor)) }
        if !standIn.isRemainder { lines.append(line(entry, for: standIn)) }
      }
    }
    return lines
  }

  /// The line of a group's changes: `rev 5  05:20:11  user 1  name "NIX" → "Zoë"  (ann)`.
  private func header(_ group: [Entry], at cursor: Cursor?) -> String {
    let time = Timestamp(milliseconds: group[0].milliseconds)
    let revision = cursor.map { "rev \($0.revision)" } ?? "dry run"
    let parts = [style.bold(revision), style.dim(showsDate ? time.local : time.localTime), text(of: group)]
    let origin = origin.map { [style.dim("(\($0.shown))")] } ?? []
    return (parts + origin).joined(separator: "  ")
  }

  /// The changes of a group: `user 1  name "NIX" → "Zoë"`.
  private func text(of group: [Entry]) -> String {
    let changes = Self.label(group[0].operation) + group.map { text(of: $0) }.joined(separator: ", ")
    let user = group[0].user.map { ["user \($0)"] } ?? []
    return (user + [changes]).joined(separator: "  ")
  }

  /// Changes in one line without colors: `user 1  name "NIX" → "Zoë"; user 2  removed: name "x"; and 7 more`.
  static func summary(of entries: [Entry], atMost limit: Int) -> String {
    var stream = ReadableStream(.plain, nameColumns: 0, showsDate: false)
    var texts: [String] = []
    for entry in entries.prefix(limit) {
      if !stream.takes(entry) {
        texts.append(stream.text(of: stream.group))
        stream.group = []
      }
      stream.group.append(entry)
    }
    if !stream.group.isEmpty { texts.append(stream.text(of: stream.group)) }
    if entries.count > limit { texts.append("and \(entries.count - limit) more") }
    return texts.joined(separator: "; ")
  }

  private func line(_ entry: Entry, for standIn: StandIn) -> String {
    let name = standIn.name.shown
    let padding = String(repeating: " ", count: max(0, nameColumns - name.columns) + 3)
    let attribute = standIn.attribute == nil ? entry.attribute.shown + " " : ""
    let value = entry.new.isNull ? entry.new.quoted : entry.new.shown
    return "  " + name + padding + attribute + style.new(value) + style.swatch(entry.new, of: entry.attribute)
  }

  private static func label(_ operation: Entry.Operation) -> String {
    switch operation {
    case .insert: "added: "
    case .delete: "removed: "
    case .snapshot: "current: "
    case .event: "event "
    case .update: ""
    case .unknown: "unknown: "
    }
  }

  private func text(of entry: Entry) -> String {
    let name = entry.attribute.shown
    if entry.isPurged { return name + " (purged)" }
    return switch entry.operation {
    case .event: name + (entry.new.isNull ? "" : " " + style.new(entry.new.shown))
    case .insert, .snapshot: name + " " + style.new(entry.new.quoted)
    case .delete: name + " " + style.old(entry.old.quoted)
    case .update, .unknown: name + " " + style.old(entry.old.quoted) + " → " + style.new(entry.new.quoted)
    }
  }
}
