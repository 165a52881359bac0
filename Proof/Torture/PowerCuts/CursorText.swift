/// The parts of a cursor, parsed without the library.
struct CursorText: Hashable {
  let epoch, revision, nonce: Int64

  init?(_ text: String) {
    let fields = text.split(separator: "-" as Character).dropFirst().compactMap { UInt64($0, radix: 16) }
    guard text.hasPrefix("v1-"), fields.count == 3 else { return nil }
    (epoch, revision, nonce) = (
      Int64(bitPattern: fields[0]), Int64(bitPattern: fields[1]), Int64(bitPattern: fields[2])
    )
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
