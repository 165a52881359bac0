import Foundation
import TestSupport
import Testing

/// A file system of half a megabyte, where the workspace's database lies from then on.
final class SmallDisk {
  private let folder: String
  private var filler: String { folder + "/filler" }

  /// Only who may mount has one: root outside of most containers.
  static let isPossible: Bool = {
    guard let workspace = try? Workspace(), let disk = try? SmallDisk(workspace) else { return false }
    return withExtendedLifetime(disk) { true }
  }()

  init(_ workspace: Workspace) throws {
    folder = workspace.folder + "/disk"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let outcome = try workspace.finish(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder])
    try #require(outcome.status == 0, "\(outcome)")
    workspace.database = folder + "/users.db"
  }

  deinit {
    _ = try? Child(["umount", folder], environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]).wait()
  }

  /// Takes all that is left.
  func fill() throws {
    // "e": a child that another test starts meanwhile must not have it, or it lies on the disk until that child ends.
    guard let file = unsafe fopen(filler, "we") else { return }
    var bytes: [UInt8] = Array(repeating: 0, count: 4_096)
    while unsafe fwrite(&bytes, 1, bytes.count, file) == bytes.count, unsafe fflush(file) == 0 {}
    unsafe fclose(file)
  }

  /// Gives it back.
  func free() throws {
    try FileManager.default.removeItem(atPath: filler)
  }
}
