package import UserStore

/// The meaning of a query in text.
package struct ListRequest: Sendable {
  package let selection: UserSelection
  private let order: [SortText]
  package let query: Query

  package init(_ text: QueryText, _ notation: QueryNotation) throws(TextError) {
    selection = try UserSelection(text, notation)
    let order = text.order.map { SortText($0, notation) }
    self.order = order
    let keys = try order.map { key throws(TextError) in try key.key() }
    if let twice = keys.first(where: { key in keys.count { $0.attribute == key.attribute } > 1 }) {
      let last = keys.lastIndex { $0.attribute == twice.attribute }
      throw TextError(.notation, "\"\(twice.attribute)\" is given twice", in: .order, last.map { order[$0].text })
    }
    let query = Query(where: selection.condition, sortedBy: keys, limit: text.limit)
    self.query =
      try text.place.map { place throws(TextError) in
        query.after(try PageToken.position(place, sortedBy: keys, notation))
      } ?? query
  }

  /// The attributes of the order, then those of the conditions.
  package var attributes: [AttributeName] { query.sortedBy.map(\.attribute) + selection.attributes }

  /// The mistakes of suspect attributes; each counts only if no user has the attribute.
  package var doubts: [TextError] { selection.doubts + order.compactMap { $0.suspect?.mistake } }

  /// Throws for a suspect attribute that no user has.
  package func check(in transaction: inout ReadTransaction) throws {
    try selection.check(in: &transaction)
    for suspect in order.compactMap(\.suspect) { try suspect.check(in: &transaction) }
  }
}
