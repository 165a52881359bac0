import ArgumentParser
import UserStore
import UserStoreText

/// Runs the tool with the arguments of the process, and ends the process.
///
/// - Parameters:
///   - engine: The engine for databases on a server; nil in a program without one.
///   - sync: The way to a server of replicas; nil in a program without one.
package func runUserTool(_ engine: ServerEngine? = nil, sync: SyncEngine? = nil) async {
  ServerEngine.use(engine)
  SyncEngine.use(sync)
  await UserTool.main()
}

/// The command-line tool.
struct UserTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usertool",
    abstract: "Manage user records and follow their changes.",
    discussion: """
      Examples:
        usertool init
        usertool add Zoë --hair-color auburn
        usertool watch                         # in another terminal
        usertool rename Zoë Zoe
        usertool set Zoe hair_color=#ff8800 age=41
        usertool get Zoe name
        usertool log Zoe

      Specify a user by id or by a name that only one user has. A number is an id, such as 7 or -5; name:7 is the \
      name 7, and id:-5 the id -5.

      Exit codes: 0 success, 1 failure, 3 not found or ambiguous, 4 conflict (--expect, undo, --consumer), 5 database \
      busy, 6 the log does not continue from the cursor, 64 usage, 65 bad data, 66 no input file or database, \
      69 serve cannot use the address, 73 cannot create, 77 no permission, 78 serve's token file is unsuitable, \
      124 --timeout, 129/130/143 signal, 141 closed pipe.
      """,
    version: UserStore.version,
    subcommands: [
      InitCommand.self, AddCommand.self, GetCommand.self, ListCommand.self, RenameCommand.self, SetCommand.self,
      RenameAttributeCommand.self, RemoveCommand.self, PostCommand.self, WatchCommand.self, LogCommand.self,
      UndoCommand.self, ConsumersCommand.self, IndexCommand.self, UniqueCommand.self, ListenersCommand.self,
      BackupCommand.self,
      RestoreCommand.self,
      CheckCommand.self, CompactCommand.self, PurgeCommand.self, ExportCommand.self, ImportCommand.self,
      FollowCommand.self, SyncCommand.self, ReplicasCommand.self, ServeCommand.self, DemoCommand.self,
      CompletionCommand.self, ManualCommand.self,
    ])

  static func main() async {
    System.fillStandardDescriptors()
    // `watch` and `list --follow` open 19 descriptors beside the standard ones; without them, libdispatch can crash.
    guard System.hasDescriptors(24) else {
      Messages.shared.report(
        Failure(.failure, "the limit on open files is too low", hint: Failure.moreDescriptors))
      System.exit(.failure)
    }
    guard !ProgramArguments.all.isEmpty else {
      Messages.shared.report(Failure(.usage, "the system passed no arguments, not even the program's name"))
      System.exit(.usage)
    }
    let arguments = ProgramArguments.all.dropFirst()
    // An argument that is not UTF-8 is refused in this process: the other one would receive a repaired one.
    if ProgramArguments.firstInvalid == nil { ServerEngine.handOver(arguments) }
    System.widenHelp(to: leastHelpColumns)
    Signals.shared.install()
    let status = await run(arguments)
    Signals.shared.waitIfEnding()
    System.exit(status)
  }

  /// Descriptions in help texts begin in column 26, and those of values in column 28.
  static let leastHelpColumns = 40

  static func run(_ arguments: ArraySlice<String>) async -> ExitStatus {
    // Does without the parser, which would take longer than all code of the tool.
    if arguments.elementsEqual(["--version"]) { return show(configuration.version) }
    do {
      var command = try parseAsRoot(try Arguments.prepared(arguments, for: self))
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return .success
    } catch let exit as Exit {
      return exit.status
    } catch {
      if isOfParser(error), exitCode(for: error) == .success { return show(message(for: error)) }
      let failure = failure(error, arguments)
      // After a failure because of a signal, reports only writes that were, or may have been, committed.
      let status = Signals.shared.status
      if status == nil || failure.tellsOfCommit { Messages.shared.report(failure) }
      return status ?? failure.status
    }
  }

  /// Prints the help or the version, which the parser throws as errors.
  private static func show(_ text: String) -> ExitStatus {
    Output.print([text])
    return .success
  }

  private static func failure(_ error: any Error, _ arguments: ArraySlice<String>) -> Failure {
    switch error {
    case let error as Failure: error
    case let error as TextError: Failure(error)
    case let error as StoreError: Failure(error)
    case _ where isOfParser(error):
      Arguments.failure(message(for: error), arguments, for: self)
    default: Failure(.failure, "\(error)")
    }
  }

  private static func isOfParser(_ error: any Error) -> Bool {
    error is ExitCode || exitCode(for: error) != .failure
  }
}
