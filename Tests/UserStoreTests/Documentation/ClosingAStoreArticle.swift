import Dispatch
import Foundation
import TestSupport
import Testing

@testable import UserStore

/// The example of the article “Closing a store”, run with SIGUSR1 in the place of SIGTERM, which would end the tests.
@Suite struct ClosingAStoreArticle {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  private let SIGTERM = SIGUSR1

  @Test func `a signal handler closes the store and leaves one file`() throws {
    let folder = try Folder()
    let store = try folder.open()
    try store.write { _ = try $0.add(name: "NIX") }
    let isOver = Gate()
    func exit(_ status: Int32) { isOver.open() }

    signal(SIGTERM, SIG_IGN)
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
    termination.setEventHandler {
      store.close()
      exit(0)
    }
    termination.resume()

    kill(getpid(), SIGTERM)
    isOver.wait()
    termination.cancel()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["users.db"])
  }
}
