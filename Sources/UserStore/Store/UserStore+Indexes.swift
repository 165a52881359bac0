extension UserStore {
  /// Creates an index on the values of an attribute, so that queries find and sort users by them without reading all users.
  ///
  /// The index belongs to the file: every process uses it, a backup has it too, and a restore keeps the indexes that the store
  /// has. Only writes of the attribute take longer.
  ///
  /// It is used for comparisons such as `==`, `isOneOf`, `<`, and `hasPrefix` that every user of the result meets, so not for
  /// those under `!`, and for the first sort key. It helps if few users meet the condition, or if the query has a limit: reading
  /// nearly all users by an index takes several times as long as without it. Users without the attribute are not in the index,
  /// so use `missingLast` if you sort by it with a limit.
  ///
  /// Other writers wait while the index is created: about 0.6 seconds for a million users. If that is interrupted or fails,
  /// nothing has changed.
  ///
  /// - Parameter attribute: The name of the attribute, which may be one that no user has yet.
  /// - Returns: Whether there was none.
  /// - Throws: `StoreError.Code.badValue` for a name that no attribute can have, and for `id`, which needs no index; the codes
  ///   that every write can throw, such as `.nested` inside a transaction of this store.
  @discardableResult
  public func addIndex(on attribute: AttributeName) throws(StoreError) -> Bool {
    try addIndex(on: attribute) { true }
  }

  /// Removes the index on an attribute; queries give the same users without it.
  ///
  /// - Parameter attribute: The name of the attribute.
  /// - Returns: Whether there was one.
  /// - Throws: `StoreError.Code.badValue` for a name that no attribute can have, and for `id`; the codes that every write can
  ///   throw, such as `.nested` inside a transaction of this store.
  @discardableResult
  public func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool {
    try writable(writer).maintainIndex(on: attribute) { session throws(StoreError) in
      try session.removeIndex(on: attribute)
    }
  }

  /// Creates an index as `addIndex(on:)`; ends and throws if `shouldContinue`, which is called every few milliseconds, returns
  /// false.
  func addIndex(on attribute: AttributeName, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    try writable(writer).maintainIndex(on: attribute) { session throws(StoreError) in
      try session.addIndex(on: attribute, while: shouldContinue)
    }
  }
}
