extension UserStore.Event {
  /// The event as JSON text, as <doc:Format> describes it, without the members that belong to its change set:
  /// `{"op":"event","event":"invited","user":7,"payload":"{\"by\":2}","at":"2026-11-21T05:20:11.482Z"}`.
  public var json: String { JSON.record(fields).description }

  /// Returns the event as a line of JSON, as a change's `json(in:isLast:)` does.
  public func json(in set: UserStore.ChangeSet, isLast: Bool) -> String {
    JSON.record(Change.fields(of: set.cursor, isLast: isLast) + fields).description
  }

  /// The members of `json`, in order.
  package var fields: [(name: String, value: StoredValue)] {
    [
      ("op", .text("event")), ("event", .text(name)), ("user", user.map { .integer($0.rawValue) } ?? .null),
      ("payload", payload), ("at", .text(Timestamp(milliseconds: timestamp).utc)),
    ]
  }
}

extension UserStore.Entry {
  /// Returns the change or the event as a line of JSON, as its `json(in:isLast:)` does.
  public func json(in set: UserStore.ChangeSet, isLast: Bool) -> String {
    switch self {
    case .change(let change): change.json(in: set, isLast: isLast)
    case .event(let event): event.json(in: set, isLast: isLast)
    }
  }
}
