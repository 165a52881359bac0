extension UserStore {
  /// Something that happened, in order with the changes: posted in a transaction, kept in the log, and delivered like a change.
  ///
  /// An event changes no record. Use it for what others must learn exactly once and in order: an invitation, a payment, a mail to send.
  public struct Event: Hashable, Sendable {
    /// The name that was given to `post`.
    public let name: String
    /// The value that was given to `post`; null if there was none, or if a purge of the user removed it.
    public let payload: StoredValue
    /// The user that the event is about, who may have been removed since; nil if it is about none.
    public let user: User.ID?
    /// When the event was written, in milliseconds since 1970, by the writer's clock.
    ///
    /// For information only: the order of events and changes is that of the log.
    public let timestamp: Int64
    /// The number of the event's row in the log, as that of a change.
    public let sequence: Int64
  }

  /// A part of a change set.
  public enum Entry: Hashable, Sendable {
    /// A change of an attribute.
    case change(Change)
    /// An event.
    case event(Event)

    /// When the entry was written, in milliseconds since 1970, by the writer's clock.
    public var timestamp: Int64 {
      switch self {
      case .change(let change): change.timestamp
      case .event(let event): event.timestamp
      }
    }

    /// The number of the entry's row in the log.
    public var sequence: Int64 {
      switch self {
      case .change(let change): change.sequence
      case .event(let event): event.sequence
      }
    }
  }
}

package typealias Event = UserStore.Event
package typealias Entry = UserStore.Entry

extension UserStore.ChangeSet {
  /// The changes and the events of a set, or of a part of it, each in order.
  struct Entries: Sendable {
    var changes: [Change] = []
    var events: [Event] = []
    /// Whether there were notes that are not for delivery.
    var hasNotes = false
    /// Whether there was the note of a set that a replica has pulled.
    var isPulled = false

    var isEmpty: Bool { changes.isEmpty && events.isEmpty }

    /// The row of the first entry; nil if there is none.
    var first: Int64? {
      // Nearly always, there are no events.
      guard let event = events.first else { return changes.first?.sequence }
      return min(event.sequence, changes.first?.sequence ?? .max)
    }

    /// The row of the last entry; nil if there is none.
    var last: Int64? {
      guard let event = events.last else { return changes.last?.sequence }
      return max(event.sequence, changes.last?.sequence ?? .min)
    }

    /// The size of the values.
    var byteCount: Int {
      changes.reduce(0) { $0 + $1.old.byteCount + $1.new.byteCount } + events.reduce(0) { $0 + $1.payload.byteCount }
    }

    /// Both, in the order of the log.
    var merged: [Entry] {
      if events.isEmpty { return changes.map { .change($0) } }
      var (merged, rest): ([Entry], ArraySlice<Change>) = ([], changes[...])
      merged.reserveCapacity(changes.count + events.count)
      for event in events {
        let earlier = rest.prefix { $0.sequence < event.sequence }
        merged += earlier.map { .change($0) }
        merged.append(.event(event))
        rest = rest.dropFirst(earlier.count)
      }
      return merged + rest.map { .change($0) }
    }

    func after(_ sequence: Int64) -> Entries {
      Entries(changes: changes.filter { $0.sequence > sequence }, events: events.filter { $0.sequence > sequence })
    }

    func of(_ topics: [Topic]) -> Entries {
      Entries(changes: changes.filter { topics.contain($0) }, events: events.filter { topics.contain($0) })
    }

    /// Divides the entries among the topics that have listeners.
    func divided(among bound: BoundTopics<Topic>) -> [(Topic, Entries)] {
      // Most sets have one change.
      if changes.count == 1, events.isEmpty { return bound.topics(of: changes[0]).map { ($0, self) } }
      var parts: [Topic: Entries] = [:]
      for change in changes {
        for topic in bound.topics(of: change) { parts[topic, default: Entries()].changes.append(change) }
      }
      for event in events {
        for topic in bound.topics(of: event) { parts[topic, default: Entries()].events.append(event) }
      }
      return parts.map { ($0, $1) }
    }
  }
}

extension BoundTopics<Topic> {
  /// Whether few topics are bound: then testing each is faster than looking up those of a change.
  ///
  /// Capacity, not count: iterating a table that was once large is slow even if few entries are left.
  private var isSmall: Bool { lists.capacity < 8 }

  /// The bound topics that a change belongs to.
  fileprivate func topics(of change: Change) -> [Topic] {
    isSmall ? lists.keys.filter { $0.contains(change) } : change.topics.filter { contains($0) }
  }

  /// The bound topics that an event belongs to.
  fileprivate func topics(of event: Event) -> [Topic] {
    isSmall ? lists.keys.filter { $0.contains(event) } : event.topics.filter { contains($0) }
  }
}
