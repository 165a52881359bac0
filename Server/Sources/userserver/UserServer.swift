import ArgumentParser
import Foundation
import UserStore
import UserStoreText

/// The program: reads the command line, serves until a signal, and reports errors.
@main
enum UserServer {
  static func main() async {
    let arguments = Array(programArguments.dropFirst())
    do {
      if programArguments.isEmpty { throw Failure(64, "the system passed no arguments, not even the program's name") }
      let command = try parse(arguments)
      try Options.checkOnce(arguments)
      try await run(command)
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch let failure as Failure {
      end(failure)
    } catch let error as StoreError {
      end(Failure(1, error.message))
    } catch {
      let root = root(arguments)
      let status = root.exitCode(for: error)
      // Help and the version are not errors.
      if status.isSuccess { root.exit(withError: error) }
      // For --port, the parser itself suggests --host.
      let message = String(root.message(for: error).split(separator: ". Did you mean '--host'")[0])
      end(Failure(status.rawValue, message, hint: Options.hint(for: message, arguments)))
    }
  }

  /// The command that reads the arguments.
  ///
  /// Below `Options`, the parser would take the server's options anywhere in the arguments of `token`, and ignore them.
  private static func root(_ arguments: [String]) -> any ParsableCommand.Type {
    arguments.first == "token" ? TokenCommand.self : Options.self
  }

  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if arguments.first == "token" { return try TokenCommand.parseAsRoot(Array(arguments.dropFirst())) }
    let command = try Options.parseAsRoot(arguments)
    if command is TokenCommand || command is any TokenSubcommand {
      throw Failure(64, "options of the server cannot stand before token", hint: "see userserver --help")
    }
    return command
  }

  /// Runs the server, which is what the program does without the name of a command, or a command.
  private static func run(_ command: any ParsableCommand) async throws {
    switch command {
    case let options as Options: try await Serving(options).run()
    case let command as any TokenSubcommand: try await command.perform()
    default:
      var help = command
      try help.run()
    }
  }

  private static func end(_ failure: Failure) -> Never {
    StandardError.write("userserver: error: \(failure.message)")
    if let hint = failure.hint { StandardError.write("hint: \(hint)") }
    exit(failure.status)
  }
}

/// The reason why the server cannot start or continue.
struct Failure: Error {
  let status: Int32
  let message: String
  var hint: String?

  init(_ status: Int32, _ message: String, hint: String? = nil) {
    (self.status, self.message, self.hint) = (status, message, hint)
  }

  /// A failure to open a database on a server, with usertool's exit status for the error.
  init(_ error: StoreError, opening database: DatabaseAddress) {
    let message = "\(database): \(error.message)"
    switch error.code {
    case .notFound: self.init(66, message, hint: "create it with usertool init, or leave out --read-only")
    case .cannotOpen, .connectionLost:
      self.init(66, message, hint: error.hint ?? "psql must be able to connect to the same address")
    case .readOnly: self.init(77, message, hint: error.hint ?? "to serve a database that is only read, use --read-only")
    case .noPermission:
      self.init(
        77, message,
        hint: "ask its owner to run usertool init --writer with your role; --reader is enough for --read-only"
      )
    case .schemaTooNew: self.init(65, message, hint: "update userserver")
    case .schemaTooOld: self.init(65, message, hint: error.hint ?? "ask its owner to run usertool init")
    case .notAUserStore, .schemaChanged: self.init(65, message, hint: "usertool check lists the damage")
    default: self.init(1, message, hint: error.hint)
    }
  }

  /// A failure to open a file, with usertool's exit status for the error.
  init(_ error: StoreError, opening path: String) {
    let message = error.message.contains(path) ? error.message : "\(path): \(error.message)"
    let other = "choose another file with --db"
    switch error.code {
    case .notFound: self.init(66, message, hint: "create it with usertool init, or leave out --read-only")
    case .cannotOpen: self.init(66, message, hint: other)
    case .notADatabase, .notAUserStore: self.init(65, message, hint: other)
    case .cannotCreate: self.init(73, message, hint: other)
    case .noPermission, .readOnly:
      let canRead = Self.canRead(path)
      self.init(77, message, hint: canRead ? "to serve a file that you may only read, use --read-only" : other)
    case .needsWriter:
      self.init(77, message, hint: "it can be served while another program has it open for writing")
    case .needsAdoption: self.init(65, message, hint: "usertool init --adopt takes it over")
    case .schemaChanged: self.init(65, message)
    case .schemaTooNew: self.init(65, message, hint: "update userserver")
    case .schemaTooOld, .logIncomplete:
      self.init(65, message, hint: "run a writing command, such as usertool init, to fix this")
    default: self.init(1, message)
    }
  }

  /// Whether --read-only can serve a file at any time, for which SQLite creates a file beside it.
  private static func canRead(_ path: String) -> Bool {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return FileManager.default.isReadableFile(atPath: path) && FileManager.default.isWritableFile(atPath: folder)
  }
}

enum StandardError {
  /// Writes a line, made safe to show: it may contain a path, or a message of the database's server.
  static func write(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line.shown + "\n").utf8))
  }
}

extension String {
  /// The text made safe to show, as usertool does it, on a terminal and in log lines.
  ///
  /// UserStoreText's `shown` is package-internal, and a second set of rules would eventually differ from it.
  var shown: String { DatabaseAddress.file(self).description }
}
