import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Whatever part of a file is missing or overwritten: what is read is right, or somebody says that it is not.
@Suite(.timeLimit(.minutes(5))) struct DamagedFileTests {
  private static let pageSize = 1_024
  let folder: Folder
  let whole: StoreFiles
  let users: [User]

  /// A store with a user of each kind, a log, and pages that overflow; in one file.
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

  /// Looks at damaged files, and wants them left as they are.
  private func survey(_ files: StoreFiles, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) throws
    -> Survey
  {
    try files.place(in: folder)
    let survey = try Survey(folder.database)
    #expect(
      try StoreFiles(in: folder).database == files.database, "\(what) was changed by reading",
      sourceLocation: sourceLocation)
    #expect(survey.isAlarmed || survey.users == users, "\(what): \(survey)", sourceLocation: sourceLocation)
    return survey
  }

  /// A writer mends it or is refused; nothing ends the process.
  private func tryWriting() throws {
    do {
      let store = try folder.open { $0.watchesOtherProcesses = false }
      defer { store.close() }
      try store.write { try $0.add(name: "new") }
      _ = try store.compact(keeping: RetentionPolicy(.init(changes: 3)))
    } catch let error as StoreError { #expect(error.code != .unexpected, "\(error)") }
  }

  @Test func `the whole file is sound`() throws {
    #expect(try survey(whole, "the whole file").isSound)
    #expect(pages > 30)
  }

  @Test func `every truncation at a page is noticed`() throws {
    for count in 0..<pages {
      let files = StoreFiles(database: whole.database.prefix(count * Self.pageSize))
      #expect(try survey(files, "the first \(count) pages").isAlarmed, "\(count) pages are enough")
      if count > 0 { try tryWriting() }
    }
  }

  @Test func `random bytes in the place of any page`() throws {
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

  @Test func `a few random bytes in any page`() throws {
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

  @Test func `a page of the file in the place of another`() throws {
    var generator = SplitMix64(seed: Seed.base &+ 2)
    for _ in 0..<20 {
      let (from, to) = (Int.random(in: 0..<pages, using: &generator), Int.random(in: 1..<pages, using: &generator))
      var files = whole
      let source = whole.database[from * Self.pageSize..<(from + 1) * Self.pageSize]
      files.database.replaceSubrange(to * Self.pageSize..<(to + 1) * Self.pageSize, with: source)
      _ = try survey(files, "page \(from + 1) in the place of \(to + 1)")
      try tryWriting()
    }
  }
}
