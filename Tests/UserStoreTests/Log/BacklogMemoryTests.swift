import Testing

@testable import UserStore

/// Changes that wait for delivery take at most a page of memory, however many there are.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct BacklogMemoryTests {
  @Test func `a backlog that a write finds is queued as ranges of rows`() throws {
    let folder = try Folder()
    let quiet: (inout Configuration) -> Void = { $0.watchesOtherProcesses = false }
    let (store, other) = (try folder.open(quiet), try folder.open(quiet))
    let id = try store.write { try $0.add(name: "NIX") }
    let received = Recorder<(isHeld: Bool, size: Int)>()
    store.listeners.bind("all", to: .everything) { set in
      // The part for a topic is held in memory again if it fits, one part at a time.
      received.record((set.isHeld, try set.changes.map { $0.new.byteCount }.reduce(0, +)))
    }
    let bytes = Attribute<[UInt8]>("bytes")
    for number in 0..<40 {
      try other.write { try $0.set(bytes, of: id, to: Array(repeating: UInt8(number), count: 100_000)) }
    }
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.count == 41)
    #expect(received.all.map(\.size) == Array(repeating: 100_000, count: 40) + [4])
  }

  @Test func `a part with large values is read again and not held in memory`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(name: "NIX") }
    let received = Recorder<(isHeld: Bool, size: Int)>()
    store.listeners.bind("all", to: .user(id)) { set in
      var size = 0
      try set.forEach { size += $0.new.byteCount }
      received.record((set.isHeld, size))
    }
    try folder.shell(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO attributes (user_id, name, value) SELECT \(id), 'a' || i, zeroblob(100000) FROM n
      """)
    received.wait(for: 1)
    #expect(received.all.map(\.isHeld) == [false])
    #expect(received.all.map(\.size) == [4_000_000])
  }
}

extension ChangeSet {
  fileprivate var isHeld: Bool {
    if case .held = content { true } else { false }
  }
}
