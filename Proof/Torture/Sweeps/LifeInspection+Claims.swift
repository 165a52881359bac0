import TortureSupport

extension LifeInspection {
  /// The announcements, by kind.
  struct Claimed {
    var isOpened = false
    var written: [(name: String, cursor: String)] = []
    var failed: [(name: String, code: String, message: String)] = []
    var received: [AnnouncedSet] = []
    var covering: [String] = []
    var covered: [String] = []
    var saved: String?
    var backup: String?
    var purging: Set<Int64> = []
    var purged: Set<Int64> = []
    var isUnique = false
    /// The number of failures.
    ///
    /// Consecutive failures count once.
    var incidents = 0

    init(_ announcements: [Announcement]) {
      var isFailing = false
      for announcement in announcements {
        switch announcement {
        case .opened: isOpened = true
        case .written(let name, let cursor): written.append((name, cursor))
        case .failed(let name, let code, let message): failed.append((name, code, message))
        case .told(let set): received.append(set)
        case .covering(_, let cursor): covering.append(cursor)
        case .covered(_, let cursor): covered.append(cursor)
        case .saved(_, let cursor): saved = cursor
        case .backedUp(_, let cursor): backup = cursor
        case .purging(let user): purging.insert(user)
        case .purged(let user): purged.insert(user)
        case .done("unique"): isUnique = true
        default: break
        }
        if case .failed = announcement {
          if !isFailing { incidents += 1 }
          isFailing = true
        } else {
          isFailing = false
        }
      }
    }
  }
}
