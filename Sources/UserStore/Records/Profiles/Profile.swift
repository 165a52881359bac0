extension UserStore {
  /// A struct of your program that is stored as attributes of one user.
  ///
  ///     struct Account: UserStore.Profile {
  ///       var name: String
  ///       var email: String?
  ///       var role: Role  // enum Role: String, Codable
  ///       var address: Address?  // a Codable struct: JSON text
  ///     }
  ///     let zoe = try store.write { try $0.add(Account(name: "Zoë", role: .member)) }
  ///     try store.write { try $0.update(Account.self, of: zoe) { $0.role = .admin } }
  ///     let account = try store.profile(Account.self, of: zoe)
  ///
  /// A coding key is the name of an attribute: declare `CodingKeys` to give a property another name in the store. Several profiles
  /// can share attributes of a user, and a profile need not have all of them: attributes that it does not know never change.
  ///
  /// - **Values**: an `AttributeValue` is stored as it is everywhere in the library. Another type that encodes one string, number, or
  ///   Boolean value is stored as that, and lists, dictionaries, and structs as JSON text with sorted keys. A property that is nil is
  ///   not set.
  /// - **Foundation**: `Date`, `Data`, `UUID`, and `URL` need `import UserStoreFoundation`, and are refused without it: a date would be
  ///   stored as a number. `Decimal` is always refused: store it as text, or as a number of cents.
  /// - **Absent values**: an optional property is nil if its attribute is not set. Another property then has its value in `defaults`;
  ///   if there are none, the profile does not decode.
  /// - **Changes**: only properties that differ are written. A value that another program stored in its own format, for example a date
  ///   without a fraction, stays as it is until you change it.
  /// - **Nested values** are written as a whole: members of the JSON text that your type does not know are lost when the value changes.
  ///   They can be nested 100 times.
  ///
  /// The article <doc:Profiles> explains all of this.
  public protocol Profile: Codable, Sendable {
    /// The values of properties whose attributes are not set; nil if there are none.
    ///
    ///     static let defaults: Account? = Account(name: "", role: .member)
    ///
    /// They apply to properties that are not optional. A default is not stored: a user who has it gets a later version's. Declare the
    /// type, which must be optional: Swift ignores a `defaults` of another type.
    static var defaults: Self? { get }
  }
}

extension UserStore.Profile {
  /// No defaults.
  public static var defaults: Self? { nil }
}

extension UserStore.User {
  /// Returns the attributes as a profile.
  ///
  /// Of a user that a query has read, attributes that the query does not show count as not set.
  ///
  /// - Parameter type: The type of the profile.
  /// - Returns: The profile.
  /// - Throws: `StoreError.Code.undecodable` if a value is not of the property's type, or is missing without a default; `.badValue`
  ///   for a type of Foundation that is not an attribute value.
  public func profile<Profile: UserStore.Profile>(_ type: Profile.Type = Profile.self) throws(StoreError) -> Profile {
    try ProfileDecoder.decode(type, from: self).profile
  }
}

package typealias Profile = UserStore.Profile
