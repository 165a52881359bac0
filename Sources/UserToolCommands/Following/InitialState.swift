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

  /// The lines above and below the state: that the watch is ready, how many users follow, and that of the cursor.
  private static let otherRows = 3

  init(rows: Int) {
    self.rows = rows - Self.otherRows
  }

  /// Adds a user whose state takes some rows; the first user is chosen even if it does not fit.
  ///
  /// The rows are not counted when the screen is full: laying out the state of every user of a large database takes long.
  mutating func add(_ user: User, taking count: @autoclosure () -> Int) {
    if others > 0 { return others += 1 }
    let height = count()
    guard users.isEmpty || height <= rows else { return others += 1 }
    rows -= height
    users.append(user)
  }

  /// What to say about the other users; nil if there are none.
  var note: String? {
    others == 0 ? nil : "and \(others.grouped) more; --initial all prints \(others == 1 ? "it" : "them") too"
  }
}

extension Int {
  /// The number with commas between groups of three digits.
  var grouped: String {
    let digits = String(self)
    return String(
      digits.enumerated().flatMap { index, digit in
        index > 0 && (digits.count - index) % 3 == 0 ? [",", digit] : [digit]
      })
  }
}
