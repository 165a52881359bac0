import Foundation
import TestSupport
import Testing

/// Another user without permissions; the tests may run as root, for which permissions are not checked.
struct Stranger {
  private let workspace: Workspace
  private let tool: String

  /// Lets the stranger enter the workspace, and copies the tool there, since the build folder may not be readable.
  init(_ workspace: Workspace) throws {
    self.workspace = workspace
    tool = workspace.folder + "/tool"
    // Another process copies: a child forked by this one could inherit the file open for writing, and it could not run.
    try workspace.finish(["cp", Workspace.tool, tool])
    try set(workspace.folder, 0o755)
    try set(tool, 0o755)
  }

  /// Sets the permissions of the database and its -wal and -shm files.
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
