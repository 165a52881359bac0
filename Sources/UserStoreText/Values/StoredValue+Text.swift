package import UserStore

extension StoredValue {
  /// The value without quotes and escapes, for CSV; empty for null.
  package var bare: String {
    switch self {
    case .null: ""
    case .integer(let integer): String(integer)
    case .real(let real): JSON.text(of: real)
    case .text(let text): text
    case .blob: json
    case .invalidText(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The bytes of `bare`; those of invalid UTF-8 are unchanged.
  package var bareBytes: [UInt8] {
    if case .invalidText(let bytes) = self { bytes } else { Array(bare.utf8) }
  }

  /// The value in a tab-separated line for programs.
  ///
  /// Only control characters and backslashes are escaped: different values stay different, and nothing acts on a terminal.
  /// Joiners stay, which are part of names in emoji, Persian and Telugu.
  package var plain: String {
    switch self {
    case .invalidText(let bytes): Shown.text(ofInvalid: bytes, Shown.plain)
    default: Shown.plain(bare)
    }
  }

  /// The value for people, in which nothing acts on a terminal; empty for null.
  package var shown: String {
    switch self {
    case .invalidText(let bytes): Shown.text(ofInvalid: bytes)
    default: bare.shown
    }
  }

  /// The value for people, with text in quotes, and “(none)” for null.
  package var quoted: String {
    switch self {
    case .null: "(none)"
    case .text, .invalidText: "\"\(shown)\""
    default: shown
    }
  }
}
