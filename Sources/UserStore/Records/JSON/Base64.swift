/// Bytes as text, as in RFC 4648, section 4.
package enum Base64 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  /// The value of each letter; 64 for other bytes.
  private static let numbers: [UInt8] = (0...255).map { byte in UInt8(letters.firstIndex(of: byte) ?? 64) }

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0) { $0 << 8 | Int($1) }
      bits <<= 8 * (3 - group.count)
      for place in 0..<4 {
        text.append(place <= group.count ? letters[bits >> (18 - 6 * place) & 63] : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes; nil for a text that `encode` does not produce.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = text.utf8.prefix { $0 != padding }
    let rest = text.utf8.dropFirst(digits.count)
    guard text.utf8.count % 4 == 0, rest.count <= 2, rest.allSatisfy({ $0 == padding }) else { return nil }
    var bytes: [UInt8] = []
    var bits = 0
    var count = 0
    for letter in digits {
      let number = numbers[Int(letter)]
      guard number < 64 else { return nil }
      bits = bits << 6 | Int(number)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 255))
        bits &= (1 << count) - 1
      }
    }
    // Bits left over would be lost.
    return bits == 0 ? bytes : nil
  }
}
