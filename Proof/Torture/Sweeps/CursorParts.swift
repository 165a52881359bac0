/// The parts of a cursor, parsed without the library.
struct CursorParts: Hashable {
  let epoch: Int64
  let revision: Int64
  let nonce: Int64

  init(epoch: Int64, revision: Int64, nonce: Int64) {
    (self.epoch, self.revision, self.nonce) = (epoch, revision, nonce)
  }

  init?(_ text: String) {
    let fields = text.split(separator: "-").dropFirst().map { UInt64($0, radix: 16).map { Int64(bitPattern: $0) } }
    guard text.hasPrefix("v1-"), fields.count == 3, let epoch = fields[0], let revision = fields[1],
      let nonce = fields[2]
    else { return nil }
    self.init(epoch: epoch, revision: revision, nonce: nonce)
  }
}
