/// A row of the log that ends no write: a change, or a note, which is part of a set but no change of a record.
package struct LoggedChange: CustomStringConvertible {
  package enum Field {
    case name, hairColor
    case attribute([UInt8])

    package init(_ name: [UInt8]) {
      switch name {
      case Self.nameColumn: self = .name
      case Self.hairColorColumn: self = .hairColor
      default: self = .attribute(name)
      }
    }

    private static let nameColumn = Array("name".utf8)
    private static let hairColorColumn = Array("hair_color".utf8)
  }

  package static let columns = "seq, nonce, op, user, attribute, old, new"
  /// The smallest operation of a note.
  package static let firstNote: Int64 = 4

  package let seq: Int64
  package let nonce: PlainValue
  package let op: Int64
  /// 0 for a note without a user.
  package let user: Int64
  package let field: Field
  package let old: PlainValue
  package let new: PlainValue
  private let row: [PlainValue]

  /// Parses a row that was selected with `columns`.
  package init(_ row: [PlainValue]) throws(Mismatch) {
    guard case .integer(let seq) = row[0], case .integer = row[1], case .integer(let op) = row[2] else {
      throw Mismatch("a malformed row in the log: \(row)")
    }
    switch (row[3], row[4]) {
    case (.integer(let user), .text(let name)): (self.user, field) = (user, Field(name))
    case (.integer(let user), .null) where op >= Self.firstNote: (self.user, field) = (user, .attribute([]))
    case (.null, .null) where op >= Self.firstNote: (self.user, field) = (0, .attribute([]))
    default: throw Mismatch("a malformed row in the log: \(row)")
    }
    self.seq = seq
    self.nonce = row[1]
    self.op = op
    self.old = row[5]
    self.new = row[6]
    self.row = row
  }

  package var isNote: Bool { op >= Self.firstNote }

  package var description: String { "change " + row.map(\.description).joined(separator: " | ") }
}
