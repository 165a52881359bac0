import TortureSupport
import UserStore

/// What follows the log.
extension Life {
  private static var name: String { "mailer" }

  private func consumer(of store: UserStore) throws -> Consumer {
    if let consumer { return consumer }
    let taken = try store.consumer(Self.name, from: .oldest)
    consumer = taken
    return taken
  }

  /// Reads what came since the last acknowledgement, acknowledges it, and saves the cursor in a file too.
  func consume() async {
    guard let store = opened() else { return }
    say(.begun("consume"))
    do {
      let consumer = try consumer(of: store)
      var last: ChangeSet?
      // Not all of it: the rest comes again when the name is taken anew.
      for set in try await missed(by: consumer, of: store).dropLast() {
        say(.told(try AnnouncedSet(set)))
        last = set
      }
      guard let last else { return say(.done("consume")) }
      let cursor = last.cursor.description
      say(.covering(consumer: consumer.name, cursor: cursor))
      try await consumer.acknowledge(last)
      try await consumer.flush()
      say(.covered(consumer: consumer.name, cursor: cursor))
      try CursorFile(path: options.folder + "/reader.cursor").save(cursor)
      say(.saved(file: "reader.cursor", cursor: cursor))
      say(.done("consume"))
    } catch { failed("consume", error) }
  }

  /// What came since; where the log does not go that far back, the consumer begins anew with the present state.
  private func missed(by consumer: Consumer, of store: UserStore) async throws -> [ChangeSet] {
    do { return try store.pastChanges(after: try consumer.cursor) } catch {
      guard error.code == .compacted else { throw error }
      let present = try await store.read { try $0.cursor }
      say(.covering(consumer: consumer.name, cursor: present.description))
      try await consumer.reset(to: present)
      return []
    }
  }

  /// Deals with the next set in the same write that acknowledges it: both are there, or neither is.
  func takeEffect() {
    let name = nextName("e")
    attempt(name) { store in
      let consumer = try consumer(of: store)
      guard let set = try store.pastChanges(after: try consumer.cursor).first else { return [.done(name)] }
      let cursor = set.cursor.description
      try store.write(origin: name) { users in
        if try users.storedValue("name", of: User.ID(1)).isNull {
          try users.add([(attribute: "name", value: .text("user 1"))], as: User.ID(1))
        }
        try users.set("effect", of: User.ID(1), to: .text(cursor))
        try consumer.acknowledge(set, in: &users)
      }
      return [written(name), .covered(consumer: consumer.name, cursor: cursor)]
    }
  }
}
