import Testing

@testable import UserStore

/// A text field ↔ an attribute in SQLite ↔ a writer in another process.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainProcessTests {
  @Test func `200 edits here and 200 in the sqlite3 shell cause no echo, no loop and no lost change`() async throws {
    let folder = try Folder()
    let store = try folder.open()
    let nix = try store.writeNow { try $0.add(name: "NIX") }
    let faults = Faults()
    let (field, label) = (ObservedThing(), Thing())
    let chain = faults.chain("field").bind(store, .name, of: nix).bind(field, \.text).bind(label, \.text, .out)
    let updates = (1...200).map { "UPDATE users SET name = 'shell \($0)' WHERE id = 1;" }.joined(separator: "\n")
    let shell = try Threads.start { try folder.shell(updates) }
    for number in 1...200 {
      field.text = "field \(number)"
      chain.update()
      if number % 3 == 0 { await Task.yield() }
    }
    try await shell.joined()
    let last = try store.readNow { try $0.value(.name, of: nix) }
    await turns { field.text == last && label.text == last }
    await turns(500)
    #expect(faults.texts == [])
    #expect(field.text == last && label.text == last)
    #expect(try store.readNow { try $0.value(.name, of: nix) } == last)

    let all = try store.allChanges()
    let changes = try all.flatMap { try $0.changes }.filter { $0.kind == .updated }
    #expect(all.filter { $0.origin == "field" }.map { $0.lines.count } == Array(repeating: 1, count: 200))
    for writer in ["field", "shell"] {
      let own = try changes.compactMap { try $0.new(.name) }.filter { $0.hasPrefix(writer) }
      #expect(own == (1...200).map { "\(writer) \($0)" })
    }
    for (before, after) in zip(changes, changes.dropFirst()) where before.new != after.old {
      Issue.record("\(after.old) does not follow \(before.new)")
    }
  }
}
