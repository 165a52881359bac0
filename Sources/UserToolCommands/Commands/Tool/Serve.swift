import ArgumentParser
import UserStore

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve a page and an HTTP API with userserver.",
    usage: "usertool serve [<options of userserver>]",
    discussion: """
      Examples:
        usertool serve                          # prints the address to open in a browser
        usertool serve --listen 127.0.0.1:0     # any free port
        usertool serve --read-only --token-file ~/.userserver-token

      userserver is a program of its own, so that usertool stays small; scripts/install installs both. This command runs \
      the one beside usertool, or else the first one in PATH. usertool serve --help shows its options.
      """)

  @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Options for userserver.", valueName: "options"))
  var arguments: [String] = []

  static let program = "userserver"

  func run() throws {
    for path in System.places(of: Self.program) { System.replaceProcess(by: path, arguments) }
    throw Failure(
      .failure, "\(Self.program) is not installed", hint: "scripts/install in the sources of UserStore installs it")
  }
}
