import UserStore

/// The screen of `list --follow`: the first users as a table, and below it the number of users and the revision.
struct ListFrame {
  /// The first users; at least as many as the terminal has lines, or all.
  var users: [User]
  var count: Int
  var revision: Revision
  /// The query's limit; nil if the list contains all users that meet the conditions.
  var limit: Int?
  /// The attributes that come first if not all fit.
  var first: [AttributeName] = []
  /// The marks of attributes that have just changed.
  var marks = ListMarks()

  func lines(_ style: Style, columns: Int, rows: Int) -> [String] {
    // One column stays free: erasing the rest of a full line would erase its last character.
    let width = max(1, columns - 1)
    let footer = footer.cut(to: width)
    let room = rows - 2
    guard count > 0, room > 0 else { return [style.dim(footer)] }
    let hasMore = count > room
    let records = users.prefix(hasMore ? room - 1 : room).map(\.record)
    let table = RecordTable(records, columns: nil, first: first, style) { record, column in
      guard case .integer(let id) = record["id"] else { return false }
      return marks.contains(AttributeName(column), of: User.ID(id))
    }
    var lines = table.lines(.cut(to: width))
    if hasMore { lines.append(style.dim("… \(count - records.count) more".cut(to: width))) }
    return lines + [style.dim(footer)]
  }

  private var footer: String {
    // At the limit, there may be further users.
    "\(count == limit ? "first " : "")\(count) user\(count == 1 ? "" : "s")  rev \(revision)  (Ctrl-C to stop)"
  }
}

/// The attributes of users that changed a moment ago.
struct ListMarks {
  /// The time at which each mark ends; the name nil stands for all attributes of the user.
  private var ends: [User.ID: [AttributeName?: Int64]] = [:]

  static let duration: Int64 = 1_500

  mutating func add(_ attributes: [AttributeName]?, of user: User.ID, at now: Int64) {
    for attribute in attributes.map({ $0.map(Optional.some) }) ?? [nil] {
      ends[user, default: [:]][attribute] = now + Self.duration
    }
  }

  /// Removes expired marks, and returns the time at which the next one expires.
  mutating func expire(at now: Int64) -> Int64? {
    ends = ends.mapValues { $0.filter { $0.value > now } }.filter { !$0.value.isEmpty }
    return ends.values.lazy.flatMap(\.values).min()
  }

  func contains(_ attribute: AttributeName, of user: User.ID) -> Bool {
    guard let marked = ends[user] else { return false }
    return marked[nil] != nil || marked[attribute] != nil
  }
}
