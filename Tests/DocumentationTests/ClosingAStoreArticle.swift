import Dispatch
import Foundation
import Testing
import UserStore

/// Runs the example of the article “Closing a store” in a process of its own, which SIGTERM ends.
@Suite(.timeLimit(.minutes(5))) struct ClosingAStoreArticle {
  @Test func `a signal handler closes the store and leaves one file`() async {
    await #expect(processExitsWith: .exitCode(0)) {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
      let store = try UserStore(path: folder + "/users.db")
      try store.write { _ = try $0.add(name: "NIX") }
      // Checks which files are left before the process exits.
      @Sendable func exit(_ status: Int32) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        try? FileManager.default.removeItem(atPath: folder)
        Foundation.exit(names == ["users.db"] ? status : 1)
      }

      signal(SIGTERM, SIG_IGN)
      let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
      termination.setEventHandler {
        store.close()
        exit(0)
      }
      termination.resume()

      // Repeatedly, because Dispatch arms the source on a thread of its own, and until then the signal is ignored.
      while true {
        kill(getpid(), SIGTERM)
        usleep(1_000)
      }
    }
  }
}
