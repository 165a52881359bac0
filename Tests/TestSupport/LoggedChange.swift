/// A row of the log.
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

  package let seq: Int64
  package let nonce: PlainValue
  package let op: Int64
  package let user: Int64
  package let field: Field
  package let old: PlainValue
  package let new: PlainValue
  private let row: [PlainValue]

  /// Parses a row that was selected with `columns`.
  package init(_ row: [PlainValue]) throws(Mismatch) {
    guard case .integer(let seq) = row[0], case .integer = row[1], case .integer(let op) = row[2],
      case .integer(let user) = row[3], case .text(let name) = row[4]
    else { throw Mismatch("a malformed row in the log: \(row)") }
    self.seq = seq
    self.nonce = row[1]
    self.op = op
    self.user = user
    self.field = Field(name)
    self.old = row[5]
    self.new = row[6]
    self.row = row
  }

  package var description: String { "change " + row.map(\.description).joined(separator: " | ") }
}
