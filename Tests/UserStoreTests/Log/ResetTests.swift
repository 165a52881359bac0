import Testing

@testable import UserStore

@Suite(.timeLimit(.minutes(5))) struct ResetTests {
  @Test func `after a reset no older value follows the one that was read`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "0") }
    let value = try store.listenable(.name, of: id)
    let heard = Recorder<String?>()
    let (isHeard, goOn) = (Gate(), Gate())
    value.bind("screen") { name in
      heard.record(name)
      if name == "1" {
        isHeard.open()
        goOn.wait()
      }
    }
    let first = try Threads.start { _ = try? store.write { try $0.rename(id, to: "1") } }
    isHeard.wait()
    // What follows is committed, and waits behind the round that is held up.
    try folder.shell("UPDATE meta SET epoch = 5")
    let others = try Threads.start {
      for name in ["2", "3"] { _ = try? store.write { try $0.rename(id, to: name) } }
    }
    while try store.read({ try $0.user(id)?.name }) != "2" {}
    goOn.open()
    try first.join()
    try others.join()
    let names = heard.all.compactMap { $0 }
    #expect(names == names.sorted())
    #expect(names.last == "3")
    #expect(value.value == "3")
  }

  @Test func `a write that fails still tells of the reset that it found`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "NIX") }
    let heard = Recorder<StoreError.Code?>()
    store.listeners.bind("all", to: .everything) { set in
      heard.record(set.reset)
      #expect(try set.changes.isEmpty)
      try set.forEach { Issue.record("a change of a set that has none: \($0)") }
    }
    try folder.shell("UPDATE meta SET epoch = 5")
    #expect(code { try store.write { try $0.rename(User.ID(99), to: "q") } } == .userNotFound)
    #expect(heard.all == [.diverged])
  }

  @Test func `a file that was away and came back is heard again`() throws {
    let folder = try Folder()
    let store = try folder.open()
    try store.write { try $0.add(name: "NIX") }
    let heard = Recorder<String>()
    store.listeners.bind("all", to: .everything) { set in heard.record(set.reset?.rawValue ?? set.lines.joined()) }
    try Program.run("mv", [folder.database, folder.path + "/away"])
    heard.wait(for: 1)
    try Program.run("mv", [folder.path + "/away", folder.database])
    try folder.shell("UPDATE users SET name = 'Zoë'")
    heard.wait(for: 2)
    #expect(heard.all == ["replaced", "updated 1 name 'NIX' 'Zoë'"])
  }
}
