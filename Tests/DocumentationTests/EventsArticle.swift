import Testing
import UserStore

/// Runs the examples of the article “Events”.
@Suite struct EventsArticle {
  private actor Mails {
    var sent: [StoredValue] = []
    func send(_ text: StoredValue, number: Int64) throws {
      sent.append(text)
      if text == .text("last") { throw CancellationError() }
    }
  }

  @Test func `the examples do what the article says`() async throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let zoe = try await store.write { try $0.add(name: "Zoë") }

    store.listeners.bind("thanks", to: .event("paid")) { set in
      for event in try set.events { print("thank user", event.user?.description ?? "-", "for", event.payload) }
    }
    func pay() throws {
      try store.write { users in
        try users.set(.plan, of: zoe, to: "pro")
        try users.post("paid", .text(#"{"amount":9}"#), about: zoe)
      }
    }
    try pay()
    #expect(printed.taken() == [#"thank user 1 for text("{\"amount\":9}")"#])

    let mails = Mails()
    try await store.write { users in
      try users.post("mail", .text("first"))
      try users.post("other")
    }
    try await store.write { try $0.post("mail", .text("last")) }
    do {
      let mailer = try await store.consumer("mailer", from: .oldest, of: [.event("mail")])
      for try await set in mailer {
        for event in try set.events { try await mails.send(event.payload, number: event.sequence) }
        try await mailer.acknowledge(set)
      }
      Issue.record("the loop ended")
    } catch is CancellationError {}
    #expect(await mails.sent == [.text("first"), .text("last")])
    // The second one was not acknowledged.
    let again = try await store.consumer("mailer")
    for try await set in again {
      #expect(try set.events.map(\.payload) == [.text("last")])
      break
    }
  }
}

extension Attribute<String> {
  fileprivate static var plan: Attribute { Attribute("plan") }
}
