import UserStore

/// Follows the log from its current end, and prints `received REVISION` for each set.
struct Following {
  private let database: String

  /// Parses `DATABASE`.
  init(_ arguments: [String]) throws {
    guard arguments.count == 1 else { throw Usage() }
    database = arguments[0]
  }

  func run() async throws {
    var configuration = UserStore.Configuration()
    configuration.access = .readOnly
    let store = try UserStore(path: database, configuration: configuration)
    let start = try await store.read { try $0.cursor }
    say("ready")
    for try await set in store.changeSets(after: start) { say("received \(set.revision)") }
  }
}
