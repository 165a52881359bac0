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
    try addIndex(AttributeIndex(on: attribute)) { true }
  }

  /// Removes the index on an attribute; queries give the same users without it.
  ///
  /// - Parameter attribute: The name of the attribute.
  /// - Returns: Whether there was one.
  /// - Throws: `StoreError.Code.badValue` for a name that no attribute can have, and for `id`; the codes that every write can
  ///   throw, such as `.nested` inside a transaction of this store.
  @discardableResult
  public func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool {
    try removeIndex(AttributeIndex(on: attribute))
  }

  /// Makes an attribute unique: no two users can have the same value, whichever program writes it.
  ///
  /// A value that another user has is refused with `StoreError.Code.notUnique` and changes nothing; the write can go on. On
  /// PostgreSQL, it cannot if another program gives a user the same value at that moment.
  ///
  /// - **Equal** are values as in a condition: 1 equals 1.0, text is compared by its bytes. Nothing is trimmed. Users without the
  ///   attribute do not conflict.
  /// - **Each change is checked at once**: to swap the values of two users, unset one of them first, in the same write.
  /// - **Cost**: the attribute gets an index, which queries for one value use, too. On SQLite, each unique attribute also costs about
  ///   half a microsecond with every write of any attribute.
  /// - **The file** has the rule: every process follows it, a backup has it, and a restore keeps the rules of the store, and is refused
  ///   if the backup breaks one.
  ///
  /// If the attribute is unique already, but ignores case otherwise, that is changed. Other writers wait meanwhile: 0.4 seconds for
  /// 300,000 values. If it throws, nothing has changed.
  ///
  /// - Parameters:
  ///   - attribute: The name of the attribute, which may be `name`, or one that no user has yet.
  ///   - ignoresCase: Whether the letters A to Z equal a to z. Other letters are compared by their bytes. Text with U+0000 is compared up
  ///     to it and by its length on SQLite.
  /// - Returns: Whether this has changed anything.
  /// - Throws: `StoreError.Code.notUnique` if several users have the same value: the message names the first 20 values, and `duplicates`
  ///   of a transaction returns all; `.unsupported` for a 17th unique attribute; what `addIndex` throws.
  @discardableResult
  public func addUnique(on attribute: AttributeName, ignoringCase ignoresCase: Bool = false) throws(StoreError) -> Bool
  {
    try addIndex(AttributeIndex(uniqueOn: attribute, ignoringCase: ignoresCase)) { true }
  }

  /// Makes an attribute not unique, and removes its index; the values stay.
  ///
  /// - Parameter attribute: The name of the attribute.
  /// - Returns: Whether it was unique.
  /// - Throws: What `removeIndex` throws.
  @discardableResult
  public func removeUnique(on attribute: AttributeName) throws(StoreError) -> Bool {
    try removeIndex(AttributeIndex(on: attribute, .unique))
  }

  /// Creates an index; ends and throws if `shouldContinue`, which is called every few milliseconds, returns false.
  func addIndex(_ index: AttributeIndex, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    try writable(writer).maintainIndex(on: index.attribute) { session throws(StoreError) in
      try session.addIndex(index, while: shouldContinue)
    }
  }

  private func removeIndex(_ index: AttributeIndex) throws(StoreError) -> Bool {
    try writable(writer).maintainIndex(on: index.attribute) { session throws(StoreError) in
      try session.removeIndex(index)
    }
  }
}
