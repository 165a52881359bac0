import Fuzzing
import UserStore

/// Colors.
enum Colors {
  static func test(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard let color = UserStore.Color(text) else { return expect(!isColor(input), "\(text) is a color") }
    expect(color.description.utf8.count == 7, "\(text.debugDescription) became \(color)")
    expect(UserStore.Color(color.description) == color, "\(color) does not round-trip")
    expect(UserStore.Color(storedValue: color.storedValue) == color, "\(color) does not round-trip as a stored value")
    let isName = UserStore.Color.names.contains { $0.utf8.elementsEqual(input.map(lowercased)) }
    expect(isName || isColor(input), "\(text.debugDescription) was parsed as \(color)")
  }

  private static func isColor(_ text: [UInt8]) -> Bool {
    text.count == 7 && text[0] == UInt8(ascii: "#")
      && text.dropFirst().allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
  }
}
