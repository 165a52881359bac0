/// A part of a request whose rows one statement returns in order, without comparing several columns at once.
///
/// The rows after a place in the order of `a, b` are those with the same `a` and a greater `b`, and then those with a greater
/// `a`. With an index, SQLite finds the first row of each part without reading any before it; of `a > ? OR (a = ? AND b > ?)`
/// it reads all rows. Most pages end in the first part, and then the others are not run.
package struct RowPart {
  /// All of these must be true.
  package var conditions: [Condition.Node]
  /// The rows are after this value in the order of this key.
  package var bound: (key: SortKey, value: StoredValue)?
  package var order: [SortKey] = []

  /// The conditions of which a user must meet one to be read at all; nil for all users.
  package var selected: [Condition.Node]? {
    for condition in conditions { if let selected = condition.selected { return selected } }
    return nil
  }

  package init(conditions: [Condition.Node]) { self.conditions = conditions }
}

extension RowRequest {
  /// The parts, in order; their rows, one part after the other, are the rows of the request.
  package var parts: [RowPart] { parts(RowPart(conditions: [condition.node]), from: 0, after: start) }

  /// Divides a part, whose users are equal in the sort keys before `index`, by the remaining keys.
  private func parts(_ part: RowPart, from index: Int, after start: Query.Position?) -> [RowPart] {
    guard index < order.count else {
      return [start.map { part.with(.comparison(.id, .greater, .integer($0.id.rawValue))) } ?? part]
    }
    let key = order[index]
    let value = start?.values[index]
    var missing: [RowPart] = []
    if !part.implies(key.attribute), value?.isNull != false || key.putsMissingLast {
      let start = value?.isNull == true ? start : nil
      missing = parts(part.with(.not(.exists(key.attribute))), from: index + 1, after: start)
    }
    var present: [RowPart] = []
    if let value, !value.isNull {
      present = parts(part.with(.comparison(key.attribute, .equal, value)), from: index + 1, after: start)
    }
    if value?.isNull != true || !key.putsMissingLast {
      var rest = part.with(.exists(key.attribute))
      rest.order = Array(order[index...])
      if let value, !value.isNull { rest.bound = (key, value) }
      present.append(rest)
    }
    return key.putsMissingLast ? present + missing : missing + present
  }
}

extension RowPart {
  fileprivate func with(_ condition: Condition.Node) -> RowPart {
    var part = self
    part.conditions.append(condition)
    return part
  }

  /// Whether all users of the part have an attribute.
  func implies(_ attribute: AttributeName) -> Bool {
    attribute == .id || attribute == .name || conditions.contains { $0.implied.contains(attribute) }
  }
}

extension AttributeName {
  /// How the values of an attribute are stored: as numbers, as texts, or as any values.
  package enum Column {
    case id, text, any
  }

  package var column: Column {
    switch self {
    case .id: .id
    case .name, .hairColor: .text
    default: .any
    }
  }
}

extension SortKey {
  package var putsMissingLast: Bool { isDescending || missingLast }
}

extension Condition.Node {
  /// The attributes that every user who meets the condition has; some more than once.
  ///
  /// Mostly one or two: to make a set of them takes longer than to search them.
  var implied: [AttributeName] {
    switch self {
    case .comparison(let attribute, _, _), .isOneOf(let attribute, _), .exists(let attribute): [attribute]
    case .all(let parts): parts.flatMap(\.implied)
    case .any(let parts):
      parts.dropFirst().map(\.implied).reduce(parts.first?.implied ?? []) { all, next in all.filter(next.contains) }
    case .not, .first: []
    }
  }
}
