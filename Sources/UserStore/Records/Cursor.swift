extension UserStore {
  /// The row number at which a change set ends in the log; it grows with each set, by the number of rows in the set.
  public struct Revision: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the row in the log.
    public let rawValue: Int64

    /// Creates a revision from a number.
    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }

    /// Whether the left revision is before the right one.
    public static func < (left: Revision, right: Revision) -> Bool { left.rawValue < right.rawValue }

    /// The number as text.
    public var description: String { String(rawValue) }

    /// The number of bits in a revision: enough for nine years at a million changes a second.
    static let bits = 48

    /// The position of this revision, in the log with a number, in the order of all deliveries.
    func position(inLog log: Int64) -> Int128 { Int128(log) << Self.bits + Int128(rawValue) }

    init(at position: Int128) { self.init(rawValue: Int64(position & (1 << Int128(Self.bits) - 1))) }

    static func log(at position: Int128) -> Int128 { position >> bits }

    /// Checks a revision from the database: revisions count up from one, so another program wrote one that is out of range.
    static func check(_ revision: Int64) throws(StoreError) {
      guard (0..<1 << Int64(bits)).contains(revision) else {
        throw StoreError(.corrupt, "the log is malformed: revision \(revision) is out of range")
      }
    }
  }

  /// The end of a change set in a particular log; save it to continue after that set later.
  ///
  /// A cursor is opaque. Its text starts with the version of its format, which may change.
  public struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// Identifies the log: a random number that is replaced whenever the log stops describing the tables.
    package let epoch: Int64
    /// The position in the log.
    public let revision: Revision
    /// The random number of the row there, which reveals a log that was rewound and written again.
    package let nonce: Int64

    package init(epoch: Int64, revision: Int64, nonce: Int64) {
      self.epoch = epoch
      self.revision = Revision(rawValue: revision)
      self.nonce = nonce
    }

    /// Creates a cursor from its `description`.
    ///
    /// - Throws: `StoreError.Code.badCursor` for any other text.
    public init(_ text: String) throws(StoreError) {
      let fields = text.split(separator: "-", omittingEmptySubsequences: false)
      if let first = fields.first, first.first == "v", first != "v1", UInt(first.dropFirst()) != nil {
        throw StoreError(.badCursor, "a newer version wrote the cursor (\(first.prefix(20)))")
      }
      let numbers = fields.dropFirst().compactMap { UInt64($0, radix: 16).map { Int64(bitPattern: $0) } }
      if numbers.count == 3, numbers[1] >= 0 {
        self.init(epoch: numbers[0], revision: numbers[1], nonce: numbers[2])
        // Each cursor has one text, so that comparing texts compares cursors.
        if description.hasSameBytes(as: text) { return }
      }
      throw StoreError(.badCursor, "“\(text.excerpt)” is not a cursor")
    }

    /// The text to save.
    public var description: String {
      let fields = [epoch, revision.rawValue, nonce].map { String(UInt64(bitPattern: $0), radix: 16) }
      return "v1-" + fields.joined(separator: "-")
    }
  }
}

package typealias Cursor = UserStore.Cursor
package typealias Revision = UserStore.Revision
