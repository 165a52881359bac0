/// Makes text safe to show: escapes control, bidi and zero-width characters, so that a name can neither act on a terminal nor
/// look like another name.
package enum Shown {
  package static func text(of text: String) -> String {
    var isAfterEmoji = false
    var isAfterSelector = false
    var shown = String.UnicodeScalarView()
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      let scalar = scalars[index]
      // A variation selector after an emoji only selects its appearance.
      let isSelector = scalar.value == 0xFE0F && isAfterEmoji
      // A joiner combines two emoji into one.
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

  /// The text of invalid UTF-8: each invalid byte becomes `\xff`, and `shown` escapes the valid parts.
  package static func text(ofInvalid bytes: [UInt8], _ shown: (String) -> String = { text(of: $0) }) -> String {
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
  package static func plain(_ text: String) -> String {
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
  package var shown: String {
    utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? self : Shown.text(of: self)
  }
}
