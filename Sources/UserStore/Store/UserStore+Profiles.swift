// Profiles; how they are encoded is in the folder Records/Profiles.
extension UserStore {
  /// Returns the profile of a user as currently stored, or nil if there is no such user; to read more than one thing of the same
  /// state, use `read`.
  ///
  /// - Parameters:
  ///   - type: The type of the profile.
  ///   - id: The user's identifier.
  /// - Returns: The profile.
  /// - Throws: `StoreError.Code.undecodable` if a value is not of the property's type, or is missing without a default; `.badValue`
  ///   for a type of Foundation that is not an attribute value; and the codes that every read can throw.
  public func profile<Profile: UserStore.Profile>(
    _ type: Profile.Type = Profile.self, of id: User.ID
  ) throws(StoreError) -> Profile? {
    try reader.reading { transaction throws(StoreError) in try transaction.profile(type, of: id) }
  }

  /// Returns a profile of a user as a current value with listeners.
  ///
  /// - **Listeners** are called once for each change set that changes an attribute which the profile asks for, after the listeners of
  ///   the changes, and before `write` returns. The profile is that at the end of the change set.
  /// - **Names** of listeners belong to the user and the type of the profile.
  /// - **Removal**: the value is nil while there is no such user.
  /// - **Errors**: if a stored value is not of the property's type, the profile stays as it was, and ``Configuration/onListenerError``
  ///   receives the error once for each change set that changes an attribute which the profile asks for.
  /// - **Lifetime** and **reading again** are those of a list (`list`).
  ///
  /// - Parameters:
  ///   - type: The type of the profile.
  ///   - id: The user's identifier.
  /// - Returns: The listenable, which is kept current while you hold it.
  /// - Throws: `StoreError.Code.undecodable` if the stored profile does not decode; `.badValue` for a type of Foundation that
  ///   is not an attribute value; and the codes that every read can throw, such as `.nested` inside a transaction.
  public func listenable<Profile: UserStore.Profile>(
    _ type: Profile.Type, of id: User.ID
  ) throws(StoreError) -> Listenable<Profile?> {
    try reader.check()
    return try liveQueries.profile(type, of: id)
  }

  /// Returns the users who meet a query as a list of profiles that follows the log.
  ///
  /// It is the list of the same query without `showing`, and shares its listeners' names: it keeps all attributes of the users,
  /// because which of them a profile asks for is known only when it is decoded.
  ///
  /// - Parameters:
  ///   - query: The query, by default for all users; its `showing` has no effect.
  ///   - type: The type of the profiles.
  /// - Returns: The list, with its current rows.
  /// - Throws: The errors of `list`. A profile that does not decode throws when you access it.
  public func list<Profile: UserStore.Profile>(
    _ query: Query = Query(), as type: Profile.Type
  ) throws(StoreError) -> Listenable<ProfileRows<Profile>> {
    var query = query
    query.showing = nil
    return Listenable(try list(query).backing.map { ValueBox(ProfileRows<Profile>(ValueBox<Rows>.unbox($0))) })
  }
}
