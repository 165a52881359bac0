import ArgumentParser
import UserStore

/// The conditions that select users.
struct UserConditions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only users that meet this condition, such as 'age>=18'; may be repeated to require several.",
      valueName: "condition"))
  var comparisons: [ConditionArgument] = []

  @Option(
    name: .customLong("with"),
    help: ArgumentHelp("Only users that have this attribute; may be repeated.", valueName: "attribute"))
  var present: [AttributeName] = []

  @Option(
    name: .customLong("without"),
    help: ArgumentHelp("Only users that do not have this attribute; may be repeated.", valueName: "attribute"))
  var absent: [AttributeName] = []

  /// The paragraph on conditions in the help texts.
  static let discussion = """
    A condition is an attribute (or id), an operator, and a value; quote it, because < and > mean something else to the \
    shell. The operators are = != < <= > >= ^= (starts with) and *= (contains). A value is read as in set: age>=18 \
    compares numbers, k:=TEXT and k:>=TEXT compare text. Numbers are not compared with text, and text is compared byte \
    by byte, with upper and lower case distinct. != is also met by users that do not have the attribute. The first \
    operator in a condition counts, so an attribute whose name contains one cannot be used.
    """
}

/// What the conditions mean.
struct UserSelection {
  let condition: Condition
  /// The attributes in the conditions.
  let attributes: [AttributeName]
  /// Why no user can meet the conditions, if that is certain.
  let contradictions: [String]

  /// Reads the conditions; throws for a mistake in one.
  init(_ options: UserConditions) throws(Failure) {
    var comparisons: [ValueCondition] = []
    for comparison in options.comparisons { comparisons.append(try comparison.parsed()) }
    var conditions: [Condition] = []
    for comparison in comparisons { conditions.append(try comparison.condition) }
    conditions += options.present.map { .exists($0) } + options.absent.map { !.exists($0) }
    condition = conditions.reduce(.always) { $0 && $1 }
    attributes = comparisons.map(\.attribute) + options.present + options.absent
    contradictions =
      comparisons.compactMap(\.contradiction)
      + options.absent.filter { ["id", .name].contains($0) }.map { "every user has \($0)" }
  }
}
