import TortureSupport

/// The claims at one moment of a recording, from the announcements until then.
struct Claims {
  var isOpened = false
  /// The last point that was acknowledged or delivered.
  var reached = 0
  /// The last point that can be in the log, because nothing after it was begun.
  var begun = 0
  /// The points that each consumer acknowledged, and those that it may have acknowledged.
  var covered: [String: Int] = [:]
  var covering: [String: Int] = [:]
  /// The last point that each consumer tried to acknowledge.
  ///
  /// A write that failed may be in the log.
  var attempted: [String: Int] = [:]
  /// The saved points, by file.
  var saved: [String: Int] = [:]
  var backups: [String: Int] = [:]
  var horizon: Int64 = 0
  /// Writes that were begun and whose outcome is unknown.
  var uncertain: Set<String> = []
  var purging: Set<Int64> = []
  var purged: Set<Int64> = []

  /// The claims after each announcement, with its step.
  static func all(in recording: Recording, of history: LifeHistory) -> [(step: Int, claims: Claims)] {
    var claims = Claims()
    var all: [(step: Int, claims: Claims)] = [(-1, claims)]
    for (index, step) in recording.steps.enumerated() {
      guard case .announce(let announcements) = step else { continue }
      for announcement in announcements { claims.take(announcement, history) }
      all.append((index, claims))
    }
    return all
  }

  private mutating func take(_ announcement: Announcement, _ history: LifeHistory) {
    switch announcement {
    case .opened: isOpened = true
    case .begun(let name):
      begun = max(begun, history.named[name] ?? 0)
      uncertain.insert(name)
    case .written(let name, _), .done(let name):
      reach(history.named[name])
      uncertain.remove(name)
    case .told(let set): reach(history.point(at: set.cursor))
    case .covering(let consumer, let cursor):
      let point = history.point(at: cursor)
      covering[consumer] = point
      attempted[consumer] = max(attempted[consumer] ?? 0, point ?? 0)
    case .covered(let consumer, let cursor):
      covered[consumer] = history.point(at: cursor)
      covering[consumer] = covered[consumer]
    case .saved(let file, let cursor): saved[file] = history.point(at: cursor)
    case .backedUp(let path, let cursor):
      backups[String(path.split(separator: "/" as Character).last ?? "")] = history.point(at: cursor)
    case .compacted(let revision): horizon = max(horizon, revision)
    case .purging(let user): purging.insert(user)
    case .purged(let user): purged.insert(user)
    case .failed(let name, let code, _): if code != "commitUnknown" { uncertain.remove(name) }
    case .closed, .ended: break
    }
  }

  private mutating func reach(_ point: Int?) {
    reached = max(reached, point ?? 0)
    begun = max(begun, reached)
  }
}

extension LifeHistory {
  func point(at cursor: String) -> Int? {
    CursorText(cursor).flatMap { point(at: $0.revision) }
  }
}
