extension StoreError {
  /// The value that was refused because another user has it, if the code is `notUnique`.
  public var notUnique: NotUnique? { cause as? NotUnique }

  /// A value of a unique attribute that another user has.
  public struct NotUnique: Error, Hashable, Sendable {
    /// The unique attribute.
    public let attribute: AttributeName
    /// The value that was refused, or that several users have.
    public let value: StoredValue
    /// A user who has the value; nil on PostgreSQL if another program gave it to a user at that moment.
    public let user: UserStore.User.ID?
  }

  /// Creates the error for a value of a user that another user has; `id` is nil for a user to add.
  package static func notUnique(
    _ attribute: AttributeName, _ value: StoredValue, of id: User.ID?, holder: User.ID?
  ) -> StoreError {
    let user = id.map { "user \($0)" } ?? "a new user"
    let other = holder.map { "user \($0)" } ?? "another user"
    return StoreError(
      .notUnique, "\(user) cannot have the \(attribute) \(value.forMessages): \(other) has it",
      cause: NotUnique(attribute: attribute, value: value, user: holder))
  }

  /// Creates the error for an attribute that cannot be unique, from some of the values that several users have, and their number.
  package static func notUnique(
    _ attribute: AttributeName, _ duplicates: [(value: StoredValue, users: [User.ID])], count: Int
  ) -> StoreError {
    let values = count == 1 ? "1 value belongs" : "\(count) values belong"
    let shown = duplicates.map { "\($0.value.forMessages) (\($0.users.listed))" }.joined(separator: ", ")
    let rest = count > duplicates.count ? " and \(count - duplicates.count) more" : ""
    return StoreError(
      .notUnique, "“\(attribute.text.excerpt)” cannot be unique: \(values) to several users: \(shown)\(rest)",
      cause: duplicates.first.map { NotUnique(attribute: attribute, value: $0.value, user: $0.users.first) })
  }

  /// The number of values that several users have which a message shows.
  package static var shownDuplicates: Int { 20 }
}

extension [User.ID] {
  /// `users 1, 7 and 12 more`.
  package var listed: String {
    let shown = prefix(3).map { "\($0)" }.joined(separator: ", ")
    return "users \(shown)\(count > 3 ? " and \(count - 3) more" : "")"
  }
}
