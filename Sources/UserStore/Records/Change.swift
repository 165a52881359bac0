extension UserStore {
  /// A change of one attribute of one user, from an old to a new value.
  ///
  /// Adding or removing a user is a change of each of its attributes.
  public struct Change: Hashable, Sendable {
    /// A kind of change; its raw value is the `op` of the JSON text.
    public enum Kind: String, Codable, Sendable {
      /// The user was added: one change for the name and one for the hair color, without old values.
      case added = "insert"
      /// An attribute was set (no old value), changed, or unset (no new value).
      case updated = "update"
      /// The user was removed: one change for each attribute, without new values.
      case removed = "delete"
      /// A row of the log with an operation that no version of this library writes, below those of notes; delivered as it is.
      case unknown
    }

    /// The kind of change.
    public let kind: Kind
    /// The identifier of the user.
    public let user: User.ID
    /// The name of the attribute.
    public let attribute: AttributeName
    /// The stored value before the change.
    public let old: StoredValue
    /// The stored value after the change.
    public let new: StoredValue
    /// When the change was written, in milliseconds since 1970, by the writer's clock.
    ///
    /// For information only: the order of changes is that of the log.
    public let timestamp: Int64
    /// The number of the change's row in the log.
    ///
    /// It is greater for later changes of the same log, and not greater than the revision of the change's set.
    public let sequence: Int64

    /// Whether a purge removed the values: both are null.
    ///
    /// False for the hair color of a user that was added or removed: it may not have been set.
    public var isPurged: Bool {
      old.isNull && new.isNull && kind != .unknown && !(kind != .updated && attribute == .hairColor)
    }

    /// Returns the typed value before the change; nil if there was none, or if another attribute changed.
    ///
    /// - Throws: `StoreError.Code.undecodable` if the value is not of the attribute's type.
    public func old<Value>(_ attribute: Attribute<Value>) throws(StoreError) -> Value? {
      attribute.name == self.attribute ? try attribute.decode(old, of: user) : nil
    }

    /// Returns the typed value after the change; nil if there is none, or if another attribute changed.
    ///
    /// - Throws: `StoreError.Code.undecodable` if the value is not of the attribute's type.
    public func new<Value>(_ attribute: Attribute<Value>) throws(StoreError) -> Value? {
      attribute.name == self.attribute ? try attribute.decode(new, of: user) : nil
    }
  }
}

package typealias Change = UserStore.Change
