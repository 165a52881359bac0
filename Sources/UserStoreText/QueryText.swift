public import UserStore

/// A query for users as text, in the notation of `usertool list`.
///
///     var text = QueryText()
///     text.conditions = ["age>=18", "name^=Z"]
///     text.order = ["age:desc", "name"]
///     text.limit = 50
///     let query = try text.query()
///     let users = try store.read { users in
///       try text.check(.parameters, in: &users)
///       return try users.users(matching: query)
///     }
///     let place = users.last.flatMap { QueryText.place(after: $0, in: query) }  // of the next page
///
/// The methods throw a `TextError` that points at the mistake and usually suggests a correction.
public struct QueryText: Sendable {
  /// The conditions, all of which users must meet: an attribute (or `id`), an operator, and a value.
  ///
  /// The operators are `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=` (starts with), `*=` (contains) and `~=` (contains, in any case).
  /// `age>=18` compares with a number; a colon before the operator makes the value text: `room:=007`. The first operator in a
  /// condition counts.
  public var conditions: [String] = []
  /// The attributes that users must have.
  public var present: [String] = []
  /// The attributes that users must not have.
  public var absent: [String] = []
  /// The attributes to sort by, the most important first: `age`, `age:asc`, or `age:desc`.
  ///
  /// Users without the attribute are last in both directions.
  public var order: [String] = []
  /// The largest number of users; nil for all.
  public var limit: Int?
  /// The place where the previous page ended, from `place(after:in:)`; nil for the first page.
  public var place: String?

  /// Creates the text of a query for all users.
  public init() {}

  /// Reads the text.
  ///
  /// - Parameter notation: The notation of the hints.
  /// - Returns: The query.
  /// - Throws: `TextError` for a mistake. The store checks a query's limits when it runs the query.
  public func query(_ notation: QueryNotation = .parameters) throws(TextError) -> UserStore.Query {
    try ListRequest(self, notation).query
  }

  /// Checks that attributes whose names look like mistakes exist.
  ///
  /// Names may have nearly all characters: `age!>18` is a condition on an attribute `age!`, and `age,name` is one attribute to
  /// sort by. If no user has such an attribute, it is a mistake. With `.parameters`, a value in quotes that no user has is also a
  /// mistake, as in `name="Zoë"`; a colon (`name:="Zoë"`) makes it text. The method looks up only these, but that can read all
  /// users.
  ///
  /// Any other attribute that no user has is not a mistake: a user may get it while a list is followed.
  ///
  /// - Parameters:
  ///   - notation: The notation of the hints.
  ///   - transaction: The transaction that will run the query.
  /// - Throws: `TextError` for a mistake, and `StoreError` if reading fails.
  public func check(_ notation: QueryNotation, in transaction: inout UserStore.ReadTransaction) throws {
    try ListRequest(self, notation).check(in: &transaction)
  }

  /// Returns the place after a user, for the `place` of the next page.
  ///
  /// The next page starts there even if the user has been changed or removed.
  ///
  /// - Parameters:
  ///   - user: The last user of a page, as the query returned it.
  ///   - query: The query of the page, from `query(_:)`.
  /// - Returns: The identifier of the user; in a sorted list, JSON with the values of the sort keys, in which nothing acts on a
  ///   terminal. nil if this is more than 100,000 bytes.
  public static func place(after user: UserStore.User, in query: UserStore.Query) -> String? {
    PageToken(after: query.position(of: user), sortedBy: query.sortedBy)?.text
  }
}
