import ArgumentParser
import UserStore
import UserStoreSync
import UserStoreText

struct ReplicasCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicas",
    abstract: "List the replicas that follow a server, and how far behind they are.",
    usage: "usertool replicas <address> [<options>]",
    discussion: """
      Examples:
        usertool replicas https://users.example.com --token-file token
        usertool replicas http://127.0.0.1:8080 --format csv

      The server is userserver --replicas. It knows the replicas that have asked it since it started; those that asked last \
      come first. The producer is the number of a replica's file, and a copied file has the same. A replica is copying, \
      following, or listening: then the next change reaches it at once. It is so many revisions behind, and at is the time of \
      its last request.
      """)

  @Argument(help: "The address of the server.")
  var address: String

  @Option(
    help: ArgumentHelp("A file whose first line is the token of the server.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let transport = try SyncEngine.required().connect(address, tokenFile)
    try await Deadline.run(timeout: nil) {
      let list: ReplicaList
      do { list = try await ReplicaList(from: transport) } catch {
        // A transport has an error of its own for a request that was canceled.
        if Task.isCancelled { return false }
        throw Failure(.failure, "\(address): \(error)")
      }
      let format = common.streamFormat
      var printer = RecordPrinter(format, columns: ReplicaList.columns, to: Output(), common.style)
      for row in list.rows {
        let fields = zip(ReplicaList.columns, row).map { name, value in
          (name: name, value: format == .table && name == "at" ? Self.local(value) : value)
        }
        printer.print(Record(fields: fields))
      }
      printer.end()
      return true
    }
  }

  private static func local(_ time: StoredValue) -> StoredValue {
    String(storedValue: time).flatMap { Timestamp(utc: $0) }.map { .text($0.local) } ?? time
  }
}
