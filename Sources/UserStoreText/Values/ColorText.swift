package import UserStore

package enum ColorText {
  /// The color; throws an error that suggests a similar one.
  package static func color(_ text: String) throws(TextError) -> Color {
    if let color = Color(text) { return color }
    throw TextError(
      .value, "\"\(text)\" is not a color" + Suggestion.question(for: text, among: Color.names),
      hint: "a color is #rrggbb, or one of: " + Color.names.joined(separator: " "))
  }
}
