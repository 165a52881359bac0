package import UserStore

/// Finds the probable meaning of an unknown word.
package enum Suggestion {
  /// The nearest candidate if at most a third of its letters differ, ignoring case, which only decides between equals.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let lowercased = Array(word.lowercased())
    let limit = max(1, lowercased.count / 3)
    func cased(_ candidate: String) -> Int { distance(Array(word), Array(candidate)) }
    return
      candidates
      .map { (candidate: $0, distance: distance(lowercased, Array($0.lowercased()), atMost: limit)) }
      // Words without a common letter are not similar, however short they are.
      .filter { $0.distance <= limit && $0.distance < max(lowercased.count, $0.candidate.count) }
      .min { ($0.distance, cased($0.candidate)) < ($1.distance, cased($1.candidate)) }?.candidate
  }

  /// ` (did you mean "…"?)`, or nothing.
  package static func question(for name: AttributeName, among candidates: some Sequence<AttributeName>) -> String {
    question(for: name.text, among: candidates.map(\.text))
  }

  package static func question(for word: String, among candidates: some Sequence<String>) -> String {
    guard let nearest = nearest(to: word, among: candidates) else { return "" }
    // Composed and decomposed letters look the same, so repeating the name would not help.
    return nearest == word ? " (one that looks the same has different bytes)" : " (did you mean \"\(nearest)\"?)"
  }

  /// The number of letters that must be added, removed, changed, or swapped with the next.
  package static func distance(_ left: [Character], _ right: [Character], atMost limit: Int = .max) -> Int {
    if abs(left.count - right.count) > limit { return .max }
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var before: [Int] = []
    var above = Array(0...right.count)
    for row in 1...left.count {
      var line = [row]
      for column in 1...right.count {
        let changed = above[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
        var best = min(changed, above[column] + 1, line[column - 1] + 1)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          best = min(best, before[column - 2] + 1)
        }
        line.append(best)
      }
      (before, above) = (above, line)
    }
    return above[right.count]
  }
}
