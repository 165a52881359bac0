import TortureSupport
import UserStore

/// Steps that follow the log.
extension Life {
  private static var name: String { "mailer" }

  private func consumer(of store: UserStore) throws -> UserStore.Consumer {
    if let consumer { return consumer }
    let claimed = try store.consumer(Self.name, from: .oldest)
    consumer = claimed
    return claimed
  }

  /// Reads the sets since the last acknowledgment, acknowledges them, and also saves the cursor in a file.
  func consume() async {
    guard let store = opened() else { return }
    say(.begun("consume"))
    do {
      let consumer = try consumer(of: store)
      var last: UserStore.ChangeSet?
      // Not the last one, so that it is delivered again when the name is claimed again.
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

  /// The sets since the consumer's position.
  ///
  /// If the log was compacted past it, the consumer restarts at the current state.
  private func missed(by consumer: UserStore.Consumer, of store: UserStore) async throws -> [UserStore.ChangeSet] {
    do { return try await store.page(after: consumer.cursor()) } catch StoreError.Code.compacted {
      let current = try await store.read { try $0.cursor }
      say(.covering(consumer: consumer.name, cursor: current.description))
      try await consumer.reset(to: current)
      return []
    }
  }

  /// Writes the effect of the next set in the same write that acknowledges it, so that both are committed or neither is.
  func takeEffect() {
    let name = nextName("e")
    attempt(name) { store in
      let consumer = try consumer(of: store)
      guard let set = try store.page(after: try consumer.cursor()).first else { return [.done(name)] }
      let cursor = set.cursor.description
      try store.write(origin: name) { users in
        if try users.storedValue("name", of: UserStore.User.ID(1)).isNull {
          try users.add([(attribute: "name", value: .text("user 1"))], as: UserStore.User.ID(1))
        }
        try users.set("effect", of: UserStore.User.ID(1), to: .text(cursor))
        try consumer.acknowledge(set, in: &users)
      }
      return [written(name), .covered(consumer: consumer.name, cursor: cursor)]
    }
  }
}
