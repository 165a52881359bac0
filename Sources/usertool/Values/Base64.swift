/// Bytes as text, as in RFC 4648, section 4.
enum Base64 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
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

  /// - Returns: nil for what `encode` would not have written.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.prefix { $0 != padding }
    guard text.utf8.count % 4 == 0, text.utf8.count - digits.count <= 2 else { return nil }
    var bytes: [UInt8] = []
    var bits = 0
    var count = 0
    for letter in digits {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 255))
        bits &= (1 << count) - 1
      }
    }
    return bits == 0 && encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
  }
}
