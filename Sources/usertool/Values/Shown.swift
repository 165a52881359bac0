/// Makes text safe to show: escapes control, bidi and zero-width characters, so that a name can neither act on the terminal
/// nor look like another name.
enum Shown {
  static func text(of text: String) -> String {
    var isAfterEmoji = false
    var isAfterSelector = false
    var shown = String.UnicodeScalarView()
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      let scalar = scalars[index]
      // A variation selector after an emoji only selects how it looks.
      let isSelector = scalar.value == 0xFE0F && isAfterEmoji
      // A joiner makes one emoji of two.
      let next = scalars[scalars.index(after: index)...].first
      let isJoiner = scalar.value == 0x200D && (isAfterEmoji || isAfterSelector) && next.map(isEmoji) ?? false
      if isSafe(scalar) || isSelector || isJoiner {
        shown.append(scalar)
      } else {
        shown.append(contentsOf: escape(scalar).unicodeScalars)
      }
      (isAfterEmoji, isAfterSelector) = (isEmoji(scalar), isSelector)
    }
    return String(shown)
  }

  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { !scalar.isASCII && scalar.properties.isEmoji }

  /// Text that is not valid UTF-8: each invalid byte becomes `\xff`, and `shown` escapes the valid parts.
  static func text(ofInvalid bytes: [UInt8], _ shown: (String) -> String = { text(of: $0) }) -> String {
    var text = ""
    var rest = bytes[...]
    while !rest.isEmpty {
      let length = (1...min(4, rest.count)).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
      if let length {
        text += shown(String(decoding: rest.prefix(length), as: UTF8.self))
      } else {
        text += "\\x" + (rest.first! < 16 ? "0" : "") + String(rest.first!, radix: 16)
      }
      rest = rest.dropFirst(length ?? 1)
    }
    return text
  }

  /// Escapes only control characters and backslashes.
  static func plain(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != 0x5C }) { return text }
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "\\" || scalar.properties.generalCategory == .control {
        plain.append(contentsOf: escape(scalar).unicodeScalars)
      } else {
        plain.append(scalar)
      }
    }
    return String(plain)
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return false
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\\": "\\\\"
    default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
  }
}

extension String {
  /// The text, made safe to show.
  var shown: String {
    // The common case.
    utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? self : Shown.text(of: self)
  }

  /// The width of the text on a terminal, after it was made safe to show.
  var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.columns }
  }

  /// The beginning of the text that fits into the columns, followed by … if text is missing.
  func cut(to columns: Int) -> String {
    // A column takes at least one byte, so that the columns of most text need not be counted.
    if utf8.count <= columns || self.columns <= columns { return self }
    var (kept, used) = ("", 1)
    for character in self {
      used += character.columns
      if used > columns { break }
      kept.append(character)
    }
    return kept + "…"
  }
}

extension Character {
  fileprivate var columns: Int { isWide ? 2 : 1 }

  private var isWide: Bool {
    guard let first = unicodeScalars.first else { return false }
    if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return true }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return true
    default: return false
    }
  }
}
