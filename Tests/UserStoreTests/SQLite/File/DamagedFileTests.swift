import Foundation
import TestSupport
import Testing

@testable import UserStore

/// If any part of a file is missing or overwritten, reads return the right records, or damage is reported.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct DamagedFileTests {
  private static let pageSize = 1_024
  let folder: Folder
  let whole: StoreFiles
  let users: [User]

  /// Creates a store of one file, with users, attributes, a log, and values on overflow pages.
  init() throws {
    folder = try Folder()
    let store = try folder.open { ($0.pageSize, $0.watchesOtherProcesses) = (Self.pageSize, false) }
    let zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
    for number in 0..<12 {
      try store.write { users in
        let id = try users.add(name: "user \(number)", hairColor: Color("grey"))
        try users.set("note", of: id, to: .text(String(repeating: "n\(number)", count: 40 * number)))
        try users.set("number \(number)", of: zoe, to: .real(Double(number)))
      }
    }
    try store.write { try $0.remove(User.ID(3)) }
    users = try store.read { try $0.users() }
    store.close()
    whole = try StoreFiles(in: folder)
  }

  private var pages: Int { whole.database.count / Self.pageSize }

  /// Reads and checks damaged files, which must not change them.
  private func survey(_ files: StoreFiles, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) throws
    -> Survey
  {
    try files.place(in: folder)
    let survey = try Survey(folder.database)
    #expect(
      try StoreFiles(in: folder).database == files.database, "reading changed \(what)",
      sourceLocation: sourceLocation)
    #expect(survey.isAlarmed || survey.users == users, "\(what): \(survey)", sourceLocation: sourceLocation)
    return survey
  }

  /// Writes to the damaged file: that succeeds or throws a known error, and never ends the process.
  private func tryWriting() throws {
    do {
      let store = try folder.open { $0.watchesOtherProcesses = false }
      defer { store.close() }
      try store.write { try $0.add(name: "new") }
      _ = try store.compact(keeping: RetentionPolicy(.init(changes: 3)))
    } catch let error as StoreError { #expect(error.code != .unexpected, "\(error)") }
  }

  @Test func `the undamaged file is sound`() throws {
    #expect(try survey(whole, "the undamaged file").isSound)
    #expect(pages > 30)
  }

  @Test func `every truncation at a page is noticed`() throws {
    for count in 0..<pages {
      let files = StoreFiles(database: whole.database.prefix(count * Self.pageSize))
      #expect(try survey(files, "the first \(count) pages").isAlarmed, "nothing was noticed with \(count) pages")
      if count > 0 { try tryWriting() }
    }
  }

  @Test func `random bytes in place of any page are noticed`() throws {
    var generator = SplitMix64(seed: Seed.base)
    for page in 0..<pages {
      var files = whole
      let start = page * Self.pageSize
      let bytes = (0..<Self.pageSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      files.database.replaceSubrange(start..<start + Self.pageSize, with: bytes)
      #expect(try survey(files, "page \(page + 1), USERSTORE_SEED=\(Seed.base)").isAlarmed)
      try tryWriting()
    }
  }

  @Test func `a few random bytes anywhere are harmless or noticed`() throws {
    var generator = SplitMix64(seed: Seed.base &+ 1)
    for round in 0..<60 {
      var files = whole
      let start = Int.random(in: 0..<whole.database.count - 8, using: &generator)
      let bytes = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
      files.database.replaceSubrange(start..<start + bytes.count, with: bytes)
      _ = try survey(files, "round \(round) at \(start), USERSTORE_SEED=\(Seed.base)")
      try tryWriting()
    }
  }

  @Test func `a page in place of another is harmless or noticed`() throws {
    var generator = SplitMix64(seed: Seed.base &+ 2)
    for _ in 0..<20 {
      let (from, to) = (Int.random(in: 0..<pages, using: &generator), Int.random(in: 1..<pages, using: &generator))
      var files = whole
      let source = whole.database[from * Self.pageSize..<(from + 1) * Self.pageSize]
      files.database.replaceSubrange(to * Self.pageSize..<(to + 1) * Self.pageSize, with: source)
      _ = try survey(files, "page \(from + 1) in place of page \(to + 1)")
      try tryWriting()
    }
  }
}
