package import UserStore
import UserStoreText

/// The engine for databases on a server.
///
/// usertool itself has none, because libpq loads many libraries at each start.
package struct ServerEngine: Sendable {
  package let open: @Sendable (_ address: String, UserStore.Configuration) throws(StoreError) -> UserStore
  package let check: @Sendable (_ address: String, UserStore.Configuration) throws(StoreError) -> [UserStore.Finding]

  /// Allows a role of the server to read the store, or also to write it.
  package let allow: @Sendable (_ role: String, _ mayWrite: Bool, _ address: String) throws(StoreError) -> Void

  package init(
    open: @escaping @Sendable (String, UserStore.Configuration) throws(StoreError) -> UserStore,
    check: @escaping @Sendable (String, UserStore.Configuration) throws(StoreError) -> [UserStore.Finding],
    allow: @escaping @Sendable (String, Bool, String) throws(StoreError) -> Void
  ) {
    (self.open, self.check, self.allow) = (open, check, allow)
  }

  private static let shared = Lock<ServerEngine?>(nil)

  static var current: ServerEngine? { shared.withLock { $0 } }

  static func use(_ engine: ServerEngine?) { shared.withLock { $0 = engine } }

  private static let program = "usertool-postgres"

  /// Runs the command line in the other program, if it is installed and the database is on a server.
  ///
  /// That program reads the command line as this one does, so handing over is harmless even if the words after `--db` meant
  /// something else.
  static func handOver(_ arguments: ArraySlice<String>) {
    let address = Arguments.database(in: arguments) ?? System.environment("USERTOOL_DB")
    guard current == nil, let text = address, case .postgres = DatabaseAddress(text) else { return }
    for path in System.places(of: program) { System.replaceProcess(by: path, Array(arguments)) }
  }

  static func required() throws(Failure) -> ServerEngine {
    if let current { return current }
    throw Failure(
      .failure, "\(program), which opens databases on PostgreSQL, is not installed",
      hint: "scripts/install in the sources of UserStore installs it")
  }
}
