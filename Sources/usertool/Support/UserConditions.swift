import ArgumentParser
import UserStore

/// The conditions that select users.
struct UserConditions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only users with this value; may be repeated to require several.", valueName: "k=v"))
  var conditions: [Assignment] = []

  /// Whether a user meets all conditions; throws for a value that is not valid.
  var test: (User) -> Bool {
    get throws(Failure) {
      var values: [(attribute: AttributeName, value: StoredValue)] = []
      for condition in conditions { values.append((condition.attribute, try condition.value())) }
      return { user in values.allSatisfy { user.value($0.attribute).isSame(as: $0.value) } }
    }
  }
}

extension User {
  /// The value of an attribute or the id.
  func value(_ attribute: AttributeName) -> StoredValue {
    attribute == "id" ? .integer(id.rawValue) : storedValues[attribute] ?? .null
  }
}

extension StoredValue {
  /// Whether the values are equal, or the same number as integer and real.
  fileprivate func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
      Int64(exactly: real) == integer
    default: self == other
    }
  }
}
