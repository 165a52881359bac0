import Fuzzing
import UserStore
import UserStoreText

@testable import UserToolCommands

/// Bytes, and their text in base64.
enum Base64Text {
  static func test(_ input: [UInt8]) {
    expect(Base64.decode(Base64.encode(input)) == input, "\(input) does not round-trip")
    let text = String(decoding: input, as: UTF8.self)
    if let bytes = Base64.decode(text) {
      expect(Base64.encode(bytes).utf8.elementsEqual(text.utf8), "\(text.debugDescription) was parsed as base64")
    }
    Forms.check(.blob(input), of: "k")
    let value = StoredValue.text(ofBytes: input)
    Forms.checkJSON(value)
    Forms.checkCSV(value, of: "k")
    Readable.check(value.shown, "\(value)")
  }
}
