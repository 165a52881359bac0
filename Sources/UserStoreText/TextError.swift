/// A mistake in a text that a person wrote.
///
/// The message, the text and the hint contain parts of the text unchanged, including characters that act on a terminal.
public struct TextError: Error, Sendable, CustomStringConvertible {
  /// The kinds of mistakes.
  public enum Kind: Sendable {
    /// The text does not follow the notation.
    case notation
    /// The text follows the notation, but contains an impossible value, such as a color that does not exist.
    case value
  }

  /// The mistake, without the name of the parameter: `there is no operator =>`.
  public let message: String
  /// The parameter with the mistake: `where`, `with`, `without`, `sort`, or `after`; nil if it is none of these.
  public let parameter: String?
  /// The text with the mistake; nil if the message suffices to find it.
  public let text: String?
  /// The position of the mistake, in Unicode scalars of the text; nil for the whole text.
  ///
  /// The range is empty where something is missing.
  public let range: Range<Int>?
  /// A correction of the mistake, in one line; nil if none is known.
  public let hint: String?
  /// The kind of mistake.
  public let kind: Kind

  package init(
    _ kind: Kind, _ message: String, in parameter: QueryNotation.Parameter? = nil, _ text: String? = nil,
    at range: Range<Int>? = nil, hint: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.parameter = parameter?.rawValue
    self.text = text
    self.range = range
    self.hint = hint
  }

  /// The parameter, if there is one, and the message: `where: there is no operator =>`.
  public var description: String { (parameter.map { $0 + ": " } ?? "") + message }
}
