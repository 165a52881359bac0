import Foundation
import TestSupport
import Testing

/// Somebody without rights: the tests may run as root, for whom permissions do not bind.
struct Stranger {
  private let workspace: Workspace
  private let tool: String

  /// Lets the stranger enter the workspace, and gives them a tool that they may run wherever the build lies.
  init(_ workspace: Workspace) throws {
    self.workspace = workspace
    tool = workspace.folder + "/tool"
    // By another process: this one may be forking, and a child that has the file open for writing keeps it from running.
    try workspace.finish(["cp", Workspace.tool, tool])
    try set(workspace.folder, 0o755)
    try set(tool, 0o755)
  }

  /// Sets the rights of the database and the files beside it.
  func restrict(_ mode: Int) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: workspace.folder) where name.hasPrefix("users.db") {
      try set(workspace.folder + "/" + name, mode)
    }
  }

  func run(_ arguments: [String]) throws -> Workspace.Outcome {
    try workspace.finish(command(arguments))
  }

  func start(_ arguments: String...) throws -> Child {
    try workspace.start(command(arguments))
  }

  private func command(_ arguments: [String]) -> [String] {
    (geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tool] : [tool]) + arguments
  }

  private func set(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
