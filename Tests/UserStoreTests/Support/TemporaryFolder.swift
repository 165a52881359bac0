import Foundation

@testable import UserStore

/// A folder for one test, gone with everything in it when the test ends.
struct TemporaryFolder: ~Copyable {
  /// Absolute and without links, as the store wants it.
  let path: String

  init() throws {
    path = try Files.canonical(Files.createTemporaryFolder())
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a new file.
  func file(_ name: String, holding text: String = "") throws -> String {
    let file = path + "/" + name
    try Files.createPrivate(file)
    if !text.isEmpty { try Data(text.utf8).write(to: URL(filePath: file)) }
    return file
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
  }

  /// How many of this process's descriptors are open on something in this folder.
  func openDescriptors() throws -> Int {
    let manager = FileManager.default
    let targets = try manager.contentsOfDirectory(atPath: "/proc/self/fd").map {
      try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }
    return targets.count { $0?.hasPrefix(path + "/") == true }
  }
}
