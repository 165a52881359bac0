extension UserStore {
  /// One attribute of one user, old → new; or a user that came or went.
  public struct Change: Hashable, Sendable {
    /// What kind of change it is.
    public enum Kind: Hashable, Sendable {
      /// The user was added: one change for the name, one for the hair colour, old values null.
      case added
      /// An attribute changed, appeared (old is null) or went (new is null).
      case updated
      /// The user was removed: one change for each attribute that there was, new values null.
      case removed
      /// A row of the log that no version of this library writes: somebody tampered with it. It is handed on as it is.
      case unknown
    }

    /// What kind of change it is.
    public let kind: Kind
    /// The user.
    public let user: User.ID
    /// The attribute's name.
    public let attribute: AttributeName
    /// The stored value before.
    public let old: StoredValue
    /// The stored value after.
    public let new: StoredValue
    /// When it was written, in milliseconds since 1970, by the writer's clock.
    ///
    /// Information only: order is the log's.
    public let timestamp: Int64
    /// Its place in the log.
    let sequence: Int64

    /// Hashes what differs in most changes.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(sequence)
      hasher.combine(user)
      hasher.combine(attribute)
      hasher.combine(new)
    }

    /// Whether the values were taken out because the user was purged: both are null.
    ///
    /// False for the hair colour of a user who came or went: it may have been null before.
    public var isPurged: Bool {
      old.isNull && new.isNull && kind != .unknown && !(kind != .updated && attribute == .hairColor)
    }

    /// The typed value before; nil when there was none, or when this is another attribute.
    ///
    /// - Parameter attribute: Which attribute is meant.
    /// - Returns: the value.
    /// - Throws: `StoreError.Code.undecodable` when it is not of the attribute's type.
    public func old<Value>(_ attribute: Attribute<Value>) throws(StoreError) -> Value? {
      attribute.name == self.attribute ? try attribute.decode(old, of: user) : nil
    }

    /// The typed value after; nil when there is none, or when this is another attribute.
    ///
    /// - Parameter attribute: Which attribute is meant.
    /// - Returns: the value.
    /// - Throws: `StoreError.Code.undecodable` when it is not of the attribute's type.
    public func new<Value>(_ attribute: Attribute<Value>) throws(StoreError) -> Value? {
      attribute.name == self.attribute ? try attribute.decode(new, of: user) : nil
    }
  }
}

package typealias Change = UserStore.Change
