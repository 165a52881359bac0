import ArgumentParser
import UserStore

/// Which users are meant.
struct UserConditions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only users with this value; may be repeated, and all must fit.", valueName: "k=v"))
  var conditions: [Assignment] = []

  /// Whether a user fits.
  ///
  /// - Throws: `Failure` for a value that cannot be one.
  var test: (User) -> Bool {
    get throws(Failure) {
      var values: [(attribute: AttributeName, value: StoredValue)] = []
      for condition in conditions { values.append((condition.attribute, try condition.value())) }
      return { user in values.allSatisfy { user.value($0.attribute).isSame(as: $0.value) } }
    }
  }
}

extension User {
  /// The value of an attribute, the id too.
  func value(_ attribute: AttributeName) -> StoredValue {
    attribute == "id" ? .integer(id.rawValue) : storedValues[attribute] ?? .null
  }
}

extension StoredValue {
  /// Equal, or the same number in another type.
  fileprivate func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
      Int64(exactly: real) == integer
    default: self == other
    }
  }
}
