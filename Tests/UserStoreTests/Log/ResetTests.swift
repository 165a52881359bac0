import Testing

@testable import UserStore

/// Delivery after the log was replaced.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ResetTests {
  @Test func `after a reset no older value follows the value that was read`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "0") }
    let value = try store.listenable(.name, of: id)
    let received = Recorder<String?>()
    let (isReceived, mayContinue) = (Gate(), Gate())
    value.bind("screen") { name in
      received.record(name)
      if name == "1" {
        isReceived.open()
        mayContinue.wait()
      }
    }
    let first = try Threads.start { _ = try? store.write { try $0.rename(id, to: "1") } }
    isReceived.wait()
    // The following writes are committed, and wait behind the blocked round.
    try folder.shell("UPDATE meta SET epoch = 5")
    let others = try Threads.start {
      for name in ["2", "3"] { _ = try? store.write { try $0.rename(id, to: name) } }
    }
    while try store.read({ try $0.user(id)?.name }) != "2" {}
    mayContinue.open()
    try first.join()
    try others.join()
    let names = received.all.compactMap { $0 }
    #expect(names == names.sorted())
    #expect(names.last == "3")
    #expect(value.value == "3")
  }

  @Test func `a failed write still delivers the reset that it found`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "NIX") }
    let received = Recorder<StoreError.Code?>()
    store.listeners.bind("all", to: .everything) { set in
      received.record(set.discontinuity)
      #expect(try set.changes.isEmpty)
      try set.forEach { Issue.record("a change of a set that has none: \($0)") }
    }
    try folder.shell("UPDATE meta SET epoch = 5")
    #expect(code { try store.write { try $0.rename(User.ID(99), to: "q") } } == .userNotFound)
    #expect(received.all == [.diverged])
  }

  @Test func `after a file was moved away and back, its changes are delivered`() throws {
    let folder = try Folder()
    let store = try folder.open()
    try store.write { try $0.add(name: "NIX") }
    let received = Recorder<String>()
    store.listeners.bind("all", to: .everything) { set in
      received.record(set.discontinuity?.rawValue ?? set.lines.joined())
    }
    try Program.run("mv", [folder.database, folder.path + "/away"])
    received.wait(for: 1)
    try Program.run("mv", [folder.path + "/away", folder.database])
    try folder.shell("UPDATE users SET name = 'Zoë'")
    received.wait(for: 2)
    #expect(received.all == ["replaced", "updated 1 name 'NIX' 'Zoë'"])
  }
}
