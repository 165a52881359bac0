import TestSupport
import Testing

@testable import UserStore

/// A store for tests of lists, which delivers only what its own writes and their listeners deliver.
struct ListScene {
  let folder: Folder
  let store: UserStore
  let errors = Recorder<String>()
  let adults = Query(where: .age >= 18, sortedBy: [.ascending(.name)])

  init() throws {
    folder = try Folder()
    store = try folder.open { [errors] in
      $0.onListenerError = { _, error in errors.record("\(error)") }
      $0.roundLimit = 20
      // It could deliver what a listener writes after the outer write has returned.
      $0.watchesOtherProcesses = false
    }
  }

  @discardableResult
  func add(_ name: String, age: Int?) throws -> User.ID {
    try store.write { transaction in
      let id = try transaction.add(name: name)
      try transaction.set(.age, of: id, to: age)
      return id
    }
  }

  func names(_ rows: Rows) -> [String] { rows.map { (try? $0.name) ?? "?" } }
}
