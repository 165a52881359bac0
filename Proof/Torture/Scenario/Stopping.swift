import Glibc
import TortureSupport
import UserStore

/// Processes that stop where others may wait for them, and the visitors that use the store meanwhile.
struct Stopping {
  let options: Options
  private let write: PlannedWrite

  init(_ options: Options) {
    self.options = options
    var random = SplitMix64(seed: options.seed)
    write = PlannedWrite("\(options.role)\(options.seed)", &random)
  }

  /// Stops while it holds the write lock, and announces the write when it is continued.
  func holdWriteLock() {
    attempt(write.name) { store in
      try store.write(origin: write.name) { users in
        try write.perform(in: &users)
        raise(SIGSTOP)
      }
      return .written(write.name, cursor: try store.read { try $0.cursor }.description)
    }
  }

  /// Stops inside a read.
  func read() {
    attempt("read") { store in
      try store.read { users in
        _ = try users.cursor
        raise(SIGSTOP)
      }
      return .done("read")
    }
  }

  func watch() {
    attempt("watch") { store in
      store.listeners.bind("announcer", to: .everything) { say(.told(try AnnouncedSet($0))) }
      say(.done("watching"))
      var byte: UInt8 = 0
      while unsafe Glibc.read(0, &byte, 1) > 0 {}
      return .done("watch")
    }
  }

  func visit() {
    attempt("read") { store in
      _ = try store.read { try $0.count() }
      return .done("read")
    }
    attempt(write.name) { store in
      // Adds a user, because setting a value that is already there would change nothing.
      try store.write(origin: write.name) { try $0.add(name: "added by \(write.name)") }
      return .written(write.name, cursor: try store.read { try $0.cursor }.description)
    }
  }

  private func attempt(_ name: String, _ body: (UserStore) throws -> Announcement) {
    say(.begun(name))
    do {
      let store = try UserStore(path: options.database, configuration: options.configuration)
      say(.opened)
      do { say(try body(store)) } catch { failed(name, error) }
      store.close()
    } catch { failed(name, error) }
  }

  private func failed(_ name: String, _ error: any Error) {
    say(.failed(name, error))
    // As if the error ended the process: the next one does not know whether the last commit succeeded.
    if options.defect == .retriesBlindly { _exit(9) }
  }
}
