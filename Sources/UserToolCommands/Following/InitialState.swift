import ArgumentParser
import UserStore
import UserStoreText

/// How much of the current state `watch` prints.
enum InitialState: String, ExpressibleByArgument, CaseIterable, Sendable {
  case all
  case screen
}

/// Chooses the users whose current state fits on a terminal, and counts the others.
struct ScreenfulOfState {
  private(set) var users: [User] = []
  private(set) var others = 0
  private var rows: Int

  /// The lines around the state: the watch is ready, the number of other users, and the cursor.
  private static let otherRows = 3

  init(rows: Int) {
    self.rows = rows - Self.otherRows
  }

  /// Adds a user if its rows fit; the first user is added in any case.
  ///
  /// Rows are not counted when the screen is full: laying out every user of a large database takes long.
  mutating func add(_ user: User, taking count: @autoclosure () -> Int) {
    if others > 0 { return others += 1 }
    let height = count()
    guard users.isEmpty || height <= rows else { return others += 1 }
    rows -= height
    users.append(user)
  }

  var note: String? {
    others == 0 ? nil : "and \(others.grouped) more; --initial all prints \(others == 1 ? "it" : "them") too"
  }
}

extension Int {
  /// The number with commas: `1,234,567`.
  var grouped: String {
    let digits = String(self)
    return String(
      digits.enumerated().flatMap { index, digit in
        index > 0 && (digits.count - index) % 3 == 0 ? [",", digit] : [digit]
      })
  }
}
