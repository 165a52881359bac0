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
    operator in a condition counts, so an attribute whose name contains one cannot be used. A condition has one \
    comparison: for age>=18 and age<30, use --where twice.
    """
}

/// What the conditions mean.
struct UserSelection {
  let condition: Condition
  /// The attributes in the conditions.
  let attributes: [AttributeName]
  /// The attributes that a user who meets the conditions need not have.
  let optionalAttributes: [AttributeName]
  /// Why no user can meet the conditions, if that is certain.
  let contradictions: [String]
  private let comparisons: [ValueCondition]

  /// Reads the conditions; throws for a mistake in one.
  init(_ options: UserConditions) throws(Failure) {
    var comparisons: [ValueCondition] = []
    for comparison in options.comparisons { comparisons.append(try comparison.parsed()) }
    var conditions: [Condition] = []
    for comparison in comparisons { conditions.append(try comparison.condition) }
    conditions += options.present.map { .exists($0) } + options.absent.map { !.exists($0) }
    condition = conditions.reduce(.always) { $0 && $1 }
    self.comparisons = comparisons
    optionalAttributes = comparisons.filter { $0.comparison == .notEqual }.map(\.attribute) + options.absent
    attributes = comparisons.map(\.attribute) + options.present + options.absent
    contradictions =
      comparisons.compactMap(\.contradiction)
      + options.absent.filter { ["id", .name].contains($0) }.map { "every user has \($0)" }
  }

  /// Throws for an attribute that looks like a mistake in a condition or a sort key, if no user has it.
  func check(sortedBy order: [SortArgument] = [], in transaction: inout ReadTransaction) throws {
    for suspect in comparisons.compactMap(\.suspect) + order.compactMap(\.suspect) {
      try suspect.check(in: &transaction)
    }
  }

  /// Why no user may meet the conditions, one line for each reason; call it only if no user was found.
  func hints(_ transaction: inout ReadTransaction) throws -> [String] {
    try comparisons.compactMap { try $0.hint(&transaction) }
  }
}
