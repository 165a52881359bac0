import UserStore
package import UserStoreSync
import UserStoreText

/// The way to a server of replicas.
///
/// usertool itself has none, because libcurl loads many libraries at each start.
package struct SyncEngine: Sendable {
  package let connect: @Sendable (_ address: String, _ tokenFile: String?) throws -> any SyncTransport

  package init(
    connect: @escaping @Sendable (_ address: String, _ tokenFile: String?) throws -> any SyncTransport
  ) {
    self.connect = connect
  }

  private static let shared = Lock<SyncEngine?>(nil)

  private static var current: SyncEngine? { shared.withLock { $0 } }

  static func use(_ engine: SyncEngine?) { shared.withLock { $0 = engine } }

  private static let program = "usertool-sync"

  /// The engine of this program; runs the command line in the other program if this one has none.
  static func required() throws(Failure) -> SyncEngine {
    if let current { return current }
    let arguments = Array(ProgramArguments.all.dropFirst())
    for path in System.places(of: program) { System.replaceProcess(by: path, arguments) }
    throw Failure(
      .failure, "\(program), which follows servers, is not installed",
      hint: "scripts/install in the sources of UserStore installs it")
  }
}
