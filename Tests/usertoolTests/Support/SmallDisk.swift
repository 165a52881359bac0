import Foundation
import TestSupport
import Testing

/// A file system of half a megabyte, to which the workspace's database path is moved.
final class SmallDisk {
  private let folder: String
  private var filler: String { folder + "/filler" }

  /// Whether the process may mount, which usually takes root outside a container.
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

  /// Fills the remaining space.
  func fill() throws {
    // "e" (close on exec): a child that another test starts must not inherit the file, or deleting it frees no space.
    guard let file = unsafe fopen(filler, "we") else { return }
    var bytes: [UInt8] = Array(repeating: 0, count: 4_096)
    while unsafe fwrite(&bytes, 1, bytes.count, file) == bytes.count, unsafe fflush(file) == 0 {}
    unsafe fclose(file)
  }

  /// Frees the space again.
  func free() throws {
    try FileManager.default.removeItem(atPath: filler)
  }
}
