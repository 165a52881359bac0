import ArgumentParser
import Foundation
import UserStore

/// The program: reads the command line, serves until a signal, and reports what went wrong.
@main
enum UserServer {
  static func main() async {
    do {
      let options = try Options.parse()
      try await Serving(options).run()
    } catch let failure as Failure {
      end(failure)
    } catch let error as StoreError {
      end(Failure(error))
    } catch {
      let status = Options.exitCode(for: error)
      // A request for help or the version is not an error.
      if status.isSuccess { Options.exit(withError: error) }
      end(Failure(status.rawValue, Options.message(for: error), hint: "see userserver --help"))
    }
  }

  private static func end(_ failure: Failure) -> Never {
    StandardError.write("userserver: error: \(failure.message)")
    if let hint = failure.hint { StandardError.write("hint: \(hint)") }
    exit(failure.status)
  }
}

/// Why the server cannot start or continue.
struct Failure: Error {
  let status: Int32
  let message: String
  var hint: String?

  init(_ status: Int32, _ message: String, hint: String? = nil) {
    (self.status, self.message, self.hint) = (status, message, hint)
  }

  /// A failure with the exit status that usertool has for the error.
  init(_ error: StoreError) {
    switch error.code {
    case .notFound: self.init(66, error.message, hint: "create it with usertool init, or leave out --read-only")
    case .notADatabase, .notAUserStore, .cannotOpen, .cannotCreate:
      self.init(66, error.message, hint: "choose another file with --db")
    case .noPermission, .readOnly:
      self.init(77, error.message, hint: "to serve a file that you may only read, use --read-only")
    case .schemaTooNew: self.init(1, error.message, hint: "update userserver")
    default: self.init(1, error.message)
    }
  }
}

/// Lines for people, such as errors.
enum StandardError {
  static func write(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
