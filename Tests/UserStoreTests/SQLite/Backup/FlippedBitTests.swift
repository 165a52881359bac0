import Foundation
import TestSupport
import Testing

@testable import UserStore

/// `backup` and `restore` refuse every file in which `check` finds problems.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FlippedBitTests {
  let folder: Folder
  let whole: Data

  /// Creates a store with users, attributes, and several changes of each.
  init() throws {
    folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    for number in 0..<12 {
      let id = try store.write { try $0.add(name: "user \(number)", hairColor: Color("auburn")) }
      try store.write { try $0.set(Attribute<String>("note"), of: id, to: "a note of some length \(number)") }
      try store.write { try $0.set(Attribute<Int>("age"), of: id, to: number) }
      try store.write { try $0.rename(id, to: "renamed \(number)") }
    }
    store.close()
    whole = try folder.bytes()
  }

  private func problems(_ path: String) -> [Finding] {
    ((try? UserStore.check(path: path)) ?? []).filter { $0.severity == .problem }
  }

  @Test func `a flipped bit that check finds is refused by backup and restore`() throws {
    var generator = SplitMix64(seed: Seed.base)
    let path = folder.path + "/flipped.db"
    var found = 0
    for _ in 0..<120 {
      let bit = Int.random(in: 0..<whole.count * 8, using: &generator)
      var flipped = whole
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try flipped.write(to: URL(filePath: path))
      let problems = problems(path)
      // A missing or changed trigger is repaired in a copy, which starts a new log.
      if problems.isEmpty || problems.contains(where: { $0.kind == .trigger }) { continue }
      found += 1
      let label: Comment = "bit \(bit), USERSTORE_SEED=\(Seed.base): \(problems[0].message)"
      #expect(throws: StoreError.self, label) { try UserStore.inMemory().restore(from: path) }
      #expect(throws: StoreError.self, label) {
        var configuration = Configuration()
        (configuration.access, configuration.watchesOtherProcesses) = (.readOnly, false)
        try UserStore(path: path, configuration: configuration).backup(to: folder.path + "/copy.db")
      }
      #expect(try folder.files().filter { $0.hasPrefix("copy") } == [], label)
      Files.remove(folder.path + "/copy.db")
    }
    #expect(found > 10, "USERSTORE_SEED=\(Seed.base)")
  }
}
