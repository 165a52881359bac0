import Foundation
import Testing

@testable import UserStore

/// The library's own file operations, in addition to SQLite's.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FilesTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test func `a private file is created once, and only in a folder that exists`() throws {
    let path = folder.path + "/private"
    #expect(try Files.createPrivate(path))
    #expect(try !Files.createPrivate(path))
    let error = #expect(throws: SystemError.self) { try Files.createPrivate(folder.path + "/none/private") }
    #expect(error?.number == ENOENT)
  }

  typealias Place = @Sendable (String, String) throws -> Void

  @Test(arguments: [Files.place, Files.placeByLink] as [Place])
  func `a file is moved to a free name, and a name that exists is left alone`(
    _ place: Place
  ) throws {
    let draft = try folder.file("draft", holding: "new")
    let target = folder.path + "/target"
    try place(draft, target)
    #expect(try folder.files() == ["target"])
    #expect(try Files.linkCount(of: target) == 1)
    let other = try folder.file("other", holding: "other")
    let error = #expect(throws: SystemError.self) { try place(other, target) }
    #expect(error?.number == EEXIST)
    #expect(try folder.bytes(target) == Data("new".utf8) && folder.bytes(other) == Data("other".utf8))
  }
}
