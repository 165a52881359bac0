extension UserStore {
  /// One version of a list of profiles: the users who meet a query after a change set, in order, each with a profile.
  ///
  /// A profile is decoded when you access it, so that a malformed value of a foreign writer affects no other row.
  ///
  ///     let members = try store.list(UserStore.Query(where: .role == "member"), as: Account.self)
  ///     members.bindAndFire("FirstScreen") { rows in
  ///       for row in rows { print(row.id, (try? row.profile.name) ?? "?") }
  ///     }
  public struct ProfileRows<Profile: UserStore.Profile>: RandomAccessCollection, Sendable {
    /// The version with the users, which compares itself with another one: `rows.rowChanges(from: old.rows)`.
    public let rows: Rows

    init(_ rows: Rows) {
      self.rows = rows
    }

    /// The position of the first row: 0.
    public var startIndex: Int { 0 }
    /// The position after the last row.
    public var endIndex: Int { rows.count }

    /// The row at a position; takes logarithmic time.
    public subscript(position: Int) -> Row { Row(user: rows[position]) }

    /// A user in a list of profiles.
    public struct Row: Identifiable, Sendable {
      /// The user with all attributes.
      public let user: User
      /// The user's identifier.
      public var id: User.ID { user.id }

      /// The profile.
      ///
      /// - Throws: `StoreError.Code.undecodable` if a value is not of the property's type, or is missing without a default;
      ///   `.badValue` for a type of Foundation that is not an attribute value.
      public var profile: Profile {
        get throws(StoreError) { try user.profile() }
      }
    }
  }
}
