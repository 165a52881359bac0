/// The order of stored values, the same in memory and in the SQL of queries: by class, and within a class exactly.
extension StoredValue {
  /// A class of values that can be compared with each other.
  package enum Class: Int, Comparable {
    case missing, number, text, data

    package static func < (left: Class, right: Class) -> Bool { left.rawValue < right.rawValue }
  }

  package var `class`: Class {
    switch self {
    case .null: .missing
    case .integer, .real: .number
    case .text, .invalidText: .text
    case .blob: .data
    }
  }

  /// Compares two values: less than 0 if this one is before the other, 0 if they are equal, as 1 and 1.0 are.
  func order(to other: StoredValue) -> Int {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.integer(let left), .real(let right)): Self.order(left, to: right)
    case (.real(let left), .integer(let right)): -Self.order(right, to: left)
    case (.text(let left), .text(let right)): left.byteOrder(to: right)
    case (.blob(let left), .blob(let right)), (.invalidText(let left), .invalidText(let right)):
      left.byteOrder(to: right)
    case (.text(let left), .invalidText(let right)): Array(left.utf8).byteOrder(to: right)
    case (.invalidText(let left), .text(let right)): left.byteOrder(to: Array(right.utf8))
    default: self.class.rawValue - other.class.rawValue
    }
  }

  /// Compares exactly: not every integer is a `Double`.
  private static func order(_ integer: Int64, to real: Double) -> Int {
    // 2⁶³, and all reals above, are greater than every integer.
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    if integer != whole { return integer < whole ? -1 : 1 }
    let rest = real - Double(whole)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }
}

extension StoredValue {
  func holds(_ comparison: Condition.Comparison, _ other: StoredValue) -> Bool {
    guard self.class == other.class, self.class != .missing else { return false }
    switch comparison {
    case .equal: return order(to: other) == 0
    case .notEqual: return order(to: other) != 0
    case .less: return order(to: other) < 0
    case .lessOrEqual: return order(to: other) <= 0
    case .greater: return order(to: other) > 0
    case .greaterOrEqual: return order(to: other) >= 0
    case .startsWith: return self.class == .text && textBytes.starts(with: other.textBytes)
    case .contains: return self.class == .text && textBytes.containsBytes(other.textBytes)
    case .containsIgnoringCase:
      guard case .text(let part) = other else { return holds(.contains, other) }
      return textBytes.contains(CaselessText(part))
    }
  }

  /// The bytes of text, valid or not.
  package var textBytes: [UInt8] {
    switch self {
    case .text(let text): Array(text.utf8)
    case .invalidText(let bytes): bytes
    default: []
    }
  }
}

extension [UInt8] {
  /// Whether the text is somewhere in the bytes, each letter in either case.
  fileprivate func contains(_ text: CaselessText) -> Bool {
    lowercased(text.letters).containsBytes(Array(text.lowercase.utf8))
  }

  /// The bytes with some letters in lower case.
  ///
  /// Each letter has its own two forms, so no other text becomes equal.
  private func lowercased(_ letters: [(upper: Unicode.Scalar, lower: Unicode.Scalar)]) -> [UInt8] {
    var ascii = [UInt8](0...255)
    var others: [UInt8: [(upper: [UInt8], lower: [UInt8])]] = [:]
    for letter in letters {
      let (upper, lower) = (Array(String(letter.upper).utf8), Array(String(letter.lower).utf8))
      if upper.count == 1, lower.count == 1 {
        ascii[Int(upper[0])] = lower[0]
      } else {
        others[upper[0], default: []].append((upper, lower))
      }
    }
    if others.isEmpty { return map { ascii[Int($0)] } }
    var (bytes, index) = ([UInt8](), startIndex)
    bytes.reserveCapacity(count)
    while index < endIndex {
      if let forms = others[self[index]], let form = forms.first(where: { self[index...].starts(with: $0.upper) }) {
        bytes += form.lower
        index += form.upper.count
      } else {
        bytes.append(ascii[Int(self[index])])
        index += 1
      }
    }
    return bytes
  }
}
