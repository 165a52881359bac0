import ArgumentParser
import UserStore

/// The command-line tool.
@main
struct UserTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usertool",
    abstract: "User records, and listeners that are told of every change.",
    discussion: """
      Examples:
        usertool init
        usertool add Zoë --hair-color auburn
        usertool watch                         # in another terminal
        usertool rename Zoë Zoe
        usertool set Zoe hair_color=#ff8800 age=41
        usertool get Zoe name
        usertool log Zoe

      A user is named by id, or by a name that only one user has; name:7 is the name 7.

      Exit codes: 0 done, 1 failure, 3 not found or ambiguous, 4 conflict (--expect, undo, --consumer), 5 database \
      busy, 6 the log does not go on, 64 usage, 65 bad data, 66 no database, 73 cannot create, 77 no permission, \
      124 --timeout, 130/143 signal, \
      141 closed pipe.
      """,
    version: "0.1.0",
    subcommands: [
      InitCommand.self, AddCommand.self, GetCommand.self, ListCommand.self, RenameCommand.self, SetCommand.self,
      RemoveCommand.self, WatchCommand.self, LogCommand.self, UndoCommand.self, ConsumersCommand.self,
      ListenersCommand.self, BackupCommand.self, RestoreCommand.self, CheckCommand.self, CompactCommand.self,
      PurgeCommand.self, ExportCommand.self, ImportCommand.self, DemoCommand.self, CompletionCommand.self,
      ManualCommand.self,
    ])

  static func main() async {
    System.fillStandardDescriptors()
    Signals.shared.install()
    do {
      let arguments = try Arguments.prepared(CommandLine.arguments.dropFirst(), for: self)
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      System.exit(.success)
    } catch {
      end(with: error)
    }
  }

  /// Says what went wrong, or what was asked for, and ends.
  private static func end(with error: any Error) -> Never {
    let failure: Failure
    switch error {
    case let error as Failure: failure = error
    case let error as StoreError: failure = Failure(error)
    case let status as Exit: System.exit(status.status)
    case is ExitCode, is CleanExit, is ValidationError: failure = usageFailure(error)
    default: failure = isOfParser(error) ? usageFailure(error) : Failure(.failure, "\(error)")
    }
    Messages.shared.report(failure)
    System.exit(failure.status)
  }

  private static func isOfParser(_ error: any Error) -> Bool {
    exitCode(for: error) != .failure
  }

  /// A mistake on the command line; help and version, which come as errors too, are printed here.
  private static func usageFailure(_ error: any Error) -> Failure {
    let text = message(for: error)
    if exitCode(for: error) == .success {
      let output = Output()
      output.writeLine(text)
      output.flush()
      System.exit(.success)
    }
    return Failure(.usage, text, hint: Arguments.helpHint(CommandLine.arguments.dropFirst(), for: self))
  }
}

/// Ends a command with a status, when everything was said.
struct Exit: Error {
  let status: ExitStatus
}
