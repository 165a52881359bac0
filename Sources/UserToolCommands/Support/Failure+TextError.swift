import UserStoreText

extension Failure {
  /// A failure for a mistake in an option or an argument, with carets under the scalars with the mistake.
  ///
  /// A value that cannot be one needs neither the option's name nor carets: the message has the value.
  init(_ mistake: TextError) {
    let isValue = mistake.kind == .value && mistake.range != nil
    let prefix = isValue ? nil : mistake.parameter.map { "--\($0): " }
    let details =
      if !isValue, let text = mistake.text, let range = mistake.range { Self.pointer(to: range, in: text) } else {
        [String]()
      }
    let status = mistake.kind == .value ? ExitStatus.badData : .usage
    self.init(status, (prefix ?? "") + mistake.message, hint: mistake.hint, details: details)
  }

  private static func pointer(to range: Range<Int>, in text: String) -> [String] {
    func columns(_ range: Range<Int>) -> Int {
      String(String.UnicodeScalarView(text.unicodeScalars.dropFirst(range.lowerBound).prefix(range.count))).shown
        .columns
    }
    // One where something is missing.
    let carets = String(repeating: "^", count: max(1, columns(range)))
    return [text.shown, String(repeating: " ", count: columns(0..<range.lowerBound)) + carets]
  }
}
