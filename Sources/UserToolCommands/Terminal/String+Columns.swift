extension String {
  /// The width of the text, which must be safe to show, on a terminal.
  var columns: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.columns }
  }

  func padded(to columns: Int) -> String { self + String(repeating: " ", count: max(0, columns - self.columns)) }

  /// The number of rows on a terminal that wraps lines; colors take no room.
  func rows(of columns: Int) -> Int {
    let parts = split(separator: "\u{1B}[", omittingEmptySubsequences: false)
    // An escape character is followed by a color: digits, semicolons, and m.
    let texts = parts.prefix(1) + parts.dropFirst().map { $0.drop { $0 != "m" }.dropFirst() }
    return max(1, (texts.reduce(0) { $0 + String($1).columns } + columns - 1) / columns)
  }

  /// The beginning of the text that fits, followed by … if text is missing; empty for no columns.
  func cut(to columns: Int) -> String {
    // A column takes at least one byte, so that the columns of most texts need not be counted.
    if utf8.count <= columns || self.columns <= columns { return self }
    if columns < 1 { return "" }
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
