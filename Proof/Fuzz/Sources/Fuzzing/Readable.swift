/// Checks of text for terminals, by ranges of characters and independent of the tool's own rules.
public enum Readable {
  /// Reports a character in a line that acts on a terminal or is invisible.
  ///
  /// - Parameters:
  ///   - text: One line.
  ///   - what: A description of the text.
  public static func check(_ text: String, _ what: @autoclosure () -> String) {
    let scalars = Array(text.unicodeScalars)
    func isEmoji(at index: Int) -> Bool {
      scalars.indices.contains(index) && !scalars[index].isASCII && scalars[index].properties.isEmoji
    }
    for (index, scalar) in scalars.enumerated() where hidden.contains(where: { $0.contains(scalar.value) }) {
      // A variation selector may follow an emoji, and a joiner may combine two of them.
      let isSelector = scalar.value == 0xFE0F && isEmoji(at: index - 1)
      let isAfterSelector = index > 0 && scalars[index - 1].value == 0xFE0F
      let isJoiner = scalar.value == 0x200D && (isEmoji(at: index - 1) || isAfterSelector) && isEmoji(at: index + 1)
      if !isSelector, !isJoiner {
        Findings.report("U+\(String(scalar.value, radix: 16)) in \(what()): \(text.debugDescription)")
      }
    }
  }

  /// Reports a control character in a field for programs, which get all other characters unchanged.
  ///
  /// - Parameters:
  ///   - text: A field between tabs.
  ///   - what: A description of the text.
  public static func checkControls(_ text: String, _ what: @autoclosure () -> String) {
    for scalar in text.unicodeScalars where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
      Findings.report("U+\(String(scalar.value, radix: 16)) in \(what()): \(text.debugDescription)")
    }
  }

  /// Control characters, direction marks, and zero-width characters.
  private static let hidden: [ClosedRange<UInt32>] = [
    0x00...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x17B4...0x17B5,
    0x180B...0x180F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164...0x3164, 0xFE00...0xFE0F,
    0xFEFF...0xFEFF, 0xFFA0...0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF,
  ]
}
