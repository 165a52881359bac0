/// The parts of a cursor, parsed without the library.
struct CursorText: Hashable {
  let epoch, revision, nonce: Int64

  init?(_ text: String) {
    let fields = text.split(separator: "-" as Character)
    let numbers = fields.dropFirst().compactMap { UInt64($0, radix: 16).map { Int64(bitPattern: $0) } }
    guard fields.first == "v1", fields.count == 4, numbers.count == 3 else { return nil }
    self.init(epoch: numbers[0], revision: numbers[1], nonce: numbers[2])
  }

  init(epoch: Int64, revision: Int64, nonce: Int64) {
    (self.epoch, self.revision, self.nonce) = (epoch, revision, nonce)
  }
}

extension CursorText: CustomStringConvertible {
  var description: String {
    "v1-" + [epoch, revision, nonce].map { String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: "-")
  }
}
