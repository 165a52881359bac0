import ArgumentParser
import UserStore
import UserStoreText

/// The conditions that select users.
struct UserConditions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Only users that meet this condition, such as 'age>=18'; may be repeated to require several.",
      valueName: "condition"),
    completion: Completions.assignments)
  var comparisons: [String] = []

  @Option(
    name: .customLong("with"),
    help: ArgumentHelp("Only users that have this attribute; may be repeated.", valueName: "attribute"))
  var present: [AttributeName] = []

  @Option(
    name: .customLong("without"),
    help: ArgumentHelp("Only users that do not have this attribute; may be repeated.", valueName: "attribute"))
  var absent: [AttributeName] = []

  static let discussion = """
    A condition is an attribute (or id), an operator, and a value; quote it, because < and > mean something else to the \
    shell. The operators are = != < <= > >= ^= (starts with) *= (contains) and ~= (contains, in any case). A value is \
    read as in set: age>=18 compares numbers, k:=TEXT and k:>=TEXT compare text. Numbers are not compared with text, \
    and text is compared byte by byte; ~= also finds each letter in its other upper or lower case, but not without \
    its accent. != is also met by users that do not have the attribute. The first \
    operator in a condition counts, so an attribute whose name contains one cannot be used. A condition has one \
    comparison: for age>=18 and age<30, use --where twice.
    """
}

extension QueryText {
  init(_ options: UserConditions) {
    self.init()
    conditions = options.comparisons
    present = options.present.map(\.text)
    absent = options.absent.map(\.text)
  }
}

extension UserSelection {
  init(_ options: UserConditions) throws(TextError) { try self.init(QueryText(options), .options) }
}
