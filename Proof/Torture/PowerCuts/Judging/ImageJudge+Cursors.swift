import TortureSupport
import UserStore

/// Checks of resuming after saved cursors.
extension ImageJudge {
  mutating func judgeCursors(_ store: UserStore, _ log: ImageLog, at point: Int) throws {
    let candidates = candidates()
    for index in candidates { resume(after: index, store, log, at: point, and: []) }
    guard candidates.contains(where: { $0 > point }) || random.oneIn(8) else { return }
    // Reuses the numbers of the sets that were lost.
    let ends = try writeOn(store, past: history.points[max(claims.reached, point)].revision)
    for index in candidates { resume(after: index, store, log, at: point, and: ends) }
  }

  /// The points that consumers may have: the last that was delivered, those that were saved, and a random earlier one.
  private mutating func candidates() -> Set<Int> {
    guard claims.reached > 0 else { return [] }
    let delivered = [claims.reached, Int.random(in: 1...claims.reached, using: &random)]
    return Set(delivered + claims.saved.values + claims.covered.values).subtracting([0])
  }

  private func writeOn(_ store: UserStore, past revision: Int64) throws -> [String] {
    var ends: [String] = []
    var head: Int64 = 0
    while head <= revision {
      try store.write(origin: "after") { users in
        for _ in 0..<3 { try users.add(name: "after") }
      }
      let cursor = try store.read { try $0.cursor }
      head = cursor.revision.rawValue
      ends.append(cursor.description)
    }
    return ends
  }

  private mutating func resume(
    after index: Int, _ store: UserStore, _ log: ImageLog, at point: Int, and ends: [String]
  ) {
    guard let cursor = history.points[index].set?.cursor else { return }
    let following = index >= point ? [] : history.points[(index + 1)...point]
    let expected = following.filter { !$0.isHidden }.compactMap { $0.set?.cursor }
    do {
      let sets = try isCareless ? carelessSets(after: cursor) : sets(after: cursor, in: store)
      verdict.expect(index <= point, .diverges, "the cursor \(cursor) was lost, but resumes with \(sets)")
      if index <= point {
        verdict.expect(sets == expected + ends, .resumes, "\(cursor) resumes with \(sets), not \(expected + ends)")
      }
    } catch {
      let code = (error as? StoreError)?.code
      if index > point, code == .diverged { return verdict.diverged += 1 }
      let isCompacted = history.points[index].revision < log.horizon && code == .compacted
      verdict.expect(isCompacted, .resumes, "\(cursor) at \(point): \(error)")
    }
  }

  private func sets(after cursor: String, in store: UserStore) throws -> [String] {
    var ends: [String] = []
    var last = try UserStore.Cursor(cursor)
    while true {
      let sets = try store.page(after: last)
      guard let end = sets.last else { return ends }
      ends += sets.map(\.cursor.description)
      last = end.cursor
    }
  }

  /// The sets that a feed would deliver that compares only the revision, not the nonce.
  private func carelessSets(after cursor: String) throws -> [String] {
    guard let cursor = CursorText(cursor) else { return [] }
    let connection = try PlainConnection(path)
    let rows = try connection.run("SELECT seq FROM changes WHERE seq > ? AND op = 0", [.integer(cursor.revision)])
    return rows.map { "\($0)" }
  }
}
