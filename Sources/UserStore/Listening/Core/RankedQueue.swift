/// What waits by rank: lower ones first, those of one rank in the order in which they came.
///
/// There are few ranks, and one round may put off thousands of actions of each: a search for the lowest among all of them
/// would take the square of that.
struct RankedQueue<Element> {
  private struct Level {
    let rank: Int
    /// nil once it was taken.
    var elements: [Element?]
    var front = 0
  }

  private var levels: [Level] = []

  var isEmpty: Bool { levels.isEmpty }

  mutating func append(_ element: Element, rank: Int) {
    let index = levels.firstIndex { $0.rank >= rank } ?? levels.count
    if index < levels.count, levels[index].rank == rank {
      levels[index].elements.append(element)
    } else {
      levels.insert(Level(rank: rank, elements: [element]), at: index)
    }
  }

  mutating func popFirst() -> Element? {
    guard !levels.isEmpty else { return nil }
    let element = levels[0].elements[levels[0].front].take()
    levels[0].front += 1
    if levels[0].front == levels[0].elements.count { levels.removeFirst() }
    return element
  }
}
