import Foundation
import TestSupport
import Testing

@testable import UserStore

/// What `check` finds in a file, `backup` and `restore` do not pass on without a word.
@Suite(.timeLimit(.minutes(5))) struct FlippedBitTests {
  let folder: Folder
  let whole: Data

  /// A store with users, attributes, and a log that told of each several times.
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

  @Test func `a bit that is flipped anywhere is refused by both wherever check finds it`() throws {
    var generator = SplitMix64(seed: Seed.base)
    let path = folder.path + "/flipped.db"
    var found = 0
    for _ in 0..<120 {
      let bit = Int.random(in: 0..<whole.count * 8, using: &generator)
      var flipped = whole
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try flipped.write(to: URL(filePath: path))
      let problems = problems(path)
      // A store with a trigger that is missing or changed is mended in a copy, and its log begins anew.
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
