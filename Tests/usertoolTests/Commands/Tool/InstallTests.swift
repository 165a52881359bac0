import Foundation
import TestSupport
import Testing

/// `scripts/install`, with the tool that was built for the tests, and another program in the place of the other two.
@Suite(.bounded, .serialized) struct `Installing` {
  private let workspace: Workspace
  /// A folder that does not exist yet; each of its names needs quotes.
  private let prefix: String

  init() throws {
    workspace = try Workspace()
    prefix = workspace.folder + "/it's new/$HOME *"
  }

  private static let script = Workspace.project.appendingPathComponent("scripts/install").path
  private static let installed = [
    "bin/userserver", "bin/usertool", "bin/usertool-postgres", "bin/usertool-sync",
    "share/bash-completion/completions/usertool",
    "share/fish/vendor_completions.d/usertool.fish",
    "share/man/man1/usertool.1", "share/zsh/site-functions/_usertool",
  ]

  private static let other = "/bin/true"
  private static let built = [
    "USERTOOL_BUILT": Workspace.tool, "USERTOOL_POSTGRES_BUILT": other, "USERTOOL_SYNC_BUILT": other,
    "USERSERVER_BUILT": other,
  ]

  private func install(_ arguments: String..., environment: [String: String] = [:]) throws -> Workspace.Outcome {
    try workspace.finish(
      [Self.script] + arguments, Self.built.merging(environment) { $1 })
  }

  /// The paths of all files in a folder, hidden ones too, and of the empty folders below it.
  private func contents(of folder: String) throws -> [String] {
    let found = try workspace.finish([
      "find", folder, "(", "-type", "d", "-empty", "-o", "!", "-type", "d", ")", "-printf", "%P\n",
    ])
    return found.lines.sorted()
  }

  private func text(of file: String) throws -> String {
    try String(contentsOfFile: prefix + "/" + file, encoding: .utf8)
  }

  @Test func `the tool, its manual page, and its completions are installed`() throws {
    let outcome = try install(prefix)
    // With four lines of builds, one for each program, and four of what `setup` prints, at most 17.
    #expect(outcome.status == 0 && outcome.errors.isEmpty && outcome.lines.count <= 9, "\(outcome)")
    #expect(try contents(of: prefix) == Self.installed)
    for file in Self.installed {
      #expect(outcome.lines.contains("installed \(prefix)/\(file)") == file.hasPrefix("bin/"), "\(outcome)")
      let mode = try FileManager.default.attributesOfItem(atPath: prefix + "/" + file)[.posixPermissions] as? Int
      #expect(mode == (file.hasPrefix("bin/") ? 0o755 : 0o644), "\(file)")
    }
    #expect(FileManager.default.contentsEqual(atPath: prefix + "/bin/usertool", andPath: Workspace.tool))
    for program in ["userserver", "usertool-postgres", "usertool-sync"] {
      #expect(FileManager.default.contentsEqual(atPath: prefix + "/bin/" + program, andPath: Self.other))
    }
    #expect(try text(of: "share/man/man1/usertool.1") == workspace.run("man").output)
    for (shell, file) in [("bash", Self.installed[4]), ("fish", Self.installed[5]), ("zsh", Self.installed[7])] {
      #expect(try text(of: file) == workspace.run("completion", shell).output)
    }
  }

  @Test func `the programs that need libpq can be left out`() throws {
    let outcome = try workspace.finish(
      [Self.script, "--only-usertool", prefix], ["USERTOOL_BUILT": Workspace.tool])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      try contents(of: prefix)
        == Self.installed.filter { !["bin/userserver", "bin/usertool-postgres", "bin/usertool-sync"].contains($0) })
    #expect(try install(prefix).status == 0)
    #expect(try install("--uninstall", prefix).lines.contains("removed \(prefix)/bin/usertool-postgres"))
    #expect(!FileManager.default.fileExists(atPath: prefix))
  }

  @Test func `by default, the files are installed for this user`() throws {
    #expect(try install().status == 0)
    #expect(try contents(of: workspace.folder + "/.local") == Self.installed)
    #expect(try install("--uninstall").status == 0)
    #expect(try contents(of: workspace.folder) == [])
  }

  @Test func `the line that adds the tool to PATH is printed if the tool is not found without it`() throws {
    let outcome = try install(prefix)
    let line = try #require(outcome.lines.first { $0.hasPrefix("  export PATH=") }, "\(outcome)")
    let found = try workspace.finish(["bash", "-c", line + "\ncommand -v usertool"])
    #expect(found.output == prefix + "/bin/usertool\n")
    let path = "\(prefix)/bin/:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    #expect(try !install(prefix, environment: ["PATH": path]).output.contains("export PATH"))
  }

  @Test func `a relative prefix is a folder below the current one`() throws {
    let line = "cd \"$1\" && \"$2\" some/../here && \"$2\" --uninstall here"
    let outcome = try workspace.finish(
      ["bash", "-c", line, "bash", workspace.folder, Self.script], Self.built)
    #expect(
      outcome.status == 0 && outcome.lines.contains("installed \(workspace.folder)/here/bin/usertool"), "\(outcome)")
    #expect(outcome.lines.contains("removed \(workspace.folder)/here/bin/usertool"), "\(outcome)")
    #expect(try contents(of: workspace.folder) == [])
  }

  @Test func `a running tool is replaced and continues`() throws {
    #expect(try install(prefix).status == 0)
    let tool = prefix + "/bin/usertool"
    #expect(try workspace.finish([tool, "add", "NIX"]).status == 0)
    let watcher = try workspace.start([tool, "watch", "--no-initial", "--listener", "A=name"])
    try watcher.waitUntilWatching()
    let old = try FileManager.default.attributesOfItem(atPath: tool)[.systemFileNumber] as? Int
    let outcome = try install(prefix)
    #expect(outcome.status == 0, "\(outcome)")
    let new = try FileManager.default.attributesOfItem(atPath: tool)[.systemFileNumber] as? Int
    #expect(old != new)
    #expect(try contents(of: prefix) == Self.installed)
    #expect(try workspace.finish([tool, "rename", "NIX", "Zoë"]).status == 0)
    let line = try #require(watcher.output.next())
    #expect(try Line.decode(line).new == .text("Zoë"))
  }

  @Test func `uninstalling removes what was installed, and nothing else`() throws {
    #expect(try install(prefix).status == 0)
    try workspace.finish(["touch", prefix + "/bin/other", prefix + "/share/man/man1/other.1"])
    try workspace.finish(["mkdir", prefix + "/share/zsh/empty"])
    let outcome = try install("--uninstall", prefix)
    #expect(outcome.status == 0 && outcome.errors.isEmpty && outcome.lines.count == Self.installed.count, "\(outcome)")
    #expect(try contents(of: prefix) == ["bin/other", "share/man/man1/other.1", "share/zsh/empty"])
    // An option may follow the folder.
    let again = try install(prefix, "--uninstall")
    #expect(again.status == 0 && again.output == "usertool is not installed in \(prefix)\n", "\(again)")
    #expect(try contents(of: prefix).count == 3)
  }

  @Test(arguments: [
    (["--frob"], "there is no option --frob"),
    (["a", "b"], "there is more than one PREFIX: a b"),
    ([""], "PREFIX is empty"),
  ])
  func `bad arguments are usage errors`(arguments: [String], message: String) throws {
    let outcome = try workspace.finish([Self.script] + arguments, Self.built)
    #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.hasPrefix("install: error: \(message)\nUsage: "), "\(outcome)")
    #expect(try contents(of: workspace.folder) == [])
  }

  @Test func `without a home folder, a prefix is necessary`() throws {
    let outcome = try install(environment: ["HOME": ""])
    #expect(outcome.status == 64 && outcome.errors.contains("HOME is not set"), "\(outcome)")
  }

  @Test func `a prefix that cannot be written is refused before anything is installed`() throws {
    try workspace.write(Data(), to: "file")
    let file = workspace.folder + "/file"
    let refused = try install(file + "/x")
    #expect(refused.status == 1 && refused.errors == "install: error: \(file) is not a folder; choose another PREFIX\n")
    try workspace.finish(["mkdir", "-p", prefix + "/share/zsh/site-functions/_usertool"])
    let taken = try install(prefix)
    #expect(taken.status == 1 && taken.errors.contains("_usertool is a folder"), "\(taken)")
    #expect(try contents(of: prefix) == ["share/zsh/site-functions/_usertool"])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `a prefix without write permission is refused`() throws {
    // The project's folder may not be readable.
    try workspace.finish(["cp", Self.script, workspace.folder + "/install"])
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.folder)
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let outcome = try workspace.finish(other + [workspace.folder + "/install", prefix])
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("you have no permission to write to \(workspace.folder);"), "\(outcome)")
  }
}
