extension UserStore {
  /// The position of a change set's end in the log: strictly increasing, not by one.
  public struct Revision: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The value that stands for it.
    public let rawValue: Int64

    /// Makes one of its raw value.
    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }

    /// Whether the left one comes first.
    public static func < (left: Revision, right: Revision) -> Bool { left.rawValue < right.rawValue }

    /// The text that stands for it.
    public var description: String { String(rawValue) }

    /// How many bits a revision has; at a million changes a second they last for nine years.
    static let bits = 48

    /// Revisions are given one by one: a larger one is not ours.
    ///
    /// - Throws: `StoreError.Code.corrupt`.
    static func check(_ revision: Int64) throws(StoreError) {
      guard (0..<1 << Int64(bits)).contains(revision) else {
        throw StoreError(.corrupt, "the log of the database was tampered with: it has a row \(revision)")
      }
    }
  }
}

extension UserStore {
  /// What a consumer saves to go on later: the end of a change set, in a log that can be told from every other.
  ///
  /// Opaque: its text may change with the version, and says which one it is.
  public struct Cursor: Hashable, Sendable {
    /// Which log: drawn anew whenever the log stops describing the tables.
    let epoch: Int64
    /// Where in it.
    public let revision: Revision
    /// The random number of the row there: tells a log that was rewound and written again.
    let nonce: Int64

    init(epoch: Int64, revision: Int64, nonce: Int64) {
      self.epoch = epoch
      self.revision = Revision(rawValue: revision)
      self.nonce = nonce
    }

    /// Reads a cursor's text.
    ///
    /// - Parameter text: What `description` gave.
    /// - Throws: `StoreError.Code.badCursor` for anything else.
    public init(_ text: String) throws(StoreError) {
      let fields = text.split(separator: "-", omittingEmptySubsequences: false)
      if let first = fields.first, first.first == "v", first != "v1", UInt(first.dropFirst()) != nil {
        throw StoreError(.badCursor, "the cursor was made by a newer version (\(first.prefix(20)))")
      }
      // One text for each cursor: whoever compares texts compares cursors.
      guard let cursor = Self.cursor(fields), cursor.revision.rawValue >= 0, cursor.description.hasSameBytes(as: text)
      else {
        throw StoreError(.badCursor, "this is not a cursor: “\(text.excerpt)”")
      }
      self = cursor
    }

    private static func cursor(_ fields: [Substring]) -> Cursor? {
      let numbers = fields.dropFirst().compactMap { UInt64($0, radix: 16).map { Int64(bitPattern: $0) } }
      return numbers.count == 3 ? Cursor(epoch: numbers[0], revision: numbers[1], nonce: numbers[2]) : nil
    }
  }
}

extension UserStore.Cursor: CustomStringConvertible {
  /// The text that stands for it.
  public var description: String {
    "v1-" + [epoch, revision.rawValue, nonce].map { String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: "-")
  }
}

package typealias Cursor = UserStore.Cursor
package typealias Revision = UserStore.Revision
