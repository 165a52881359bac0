import UserStore

extension StoredValue {
  /// The JSON value of the same type; data is `{"base64":"…"}`, and what is no UTF-8 becomes U+FFFD.
  var json: JSON {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(text)
    case .blob(let bytes): .object([("base64", .text(Base64.encode(bytes)))])
    case .invalidText(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The same without loss: what is no UTF-8 is `{"text_base64":"…"}`.
  var losslessJSON: JSON {
    if case .invalidText(let bytes) = self { .object([("text_base64", .text(Base64.encode(bytes)))]) } else { json }
  }

  /// Text of bytes that may be no UTF-8.
  static func text(ofBytes bytes: [UInt8]) -> StoredValue {
    String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .invalidText(bytes)
  }

  /// Whether `json` is not all of it.
  var isInvalid: Bool {
    if case .invalidText = self { true } else { false }
  }

  /// The value without quotes and escapes, for CSV; nothing for null.
  var bare: String {
    switch self {
    case .null: ""
    case .integer(let integer): String(integer)
    case .real(let real): JSON.text(of: real)
    case .text(let text): text
    case .blob: String(decoding: json.bytes, as: UTF8.self)
    case .invalidText(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The bytes of `bare`, also of a text that is no UTF-8.
  var bareBytes: [UInt8] {
    if case .invalidText(let bytes) = self { bytes } else { Array(bare.utf8) }
  }

  /// The value in a line of fields between tabs that a program reads.
  ///
  /// Only control characters and backslashes are escaped, so that each value is told from every other one, and `head` shows
  /// nothing that a terminal obeys. The joiners of emoji, of Persian and of Telugu are part of a name.
  var plain: String {
    switch self {
    case .invalidText(let bytes): Shown.text(ofInvalid: bytes, Shown.plain)
    default: Shown.plain(bare)
    }
  }

  /// The value as a person sees it: nothing in it acts on a terminal.
  ///
  /// Nothing for null.
  var shown: String {
    switch self {
    case .invalidText(let bytes): Shown.text(ofInvalid: bytes)
    default: bare.shown
    }
  }

  /// The same with text in quotes, and a word for null.
  var quoted: String {
    switch self {
    case .null: "(none)"
    case .text, .invalidText: "\"\(shown)\""
    default: shown
    }
  }
}
