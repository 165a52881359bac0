/// A queue by rank: elements of lower ranks leave first, those of one rank in the order in which they came.
///
/// There are few ranks, and one round may defer thousands of actions of each. A search for the lowest among all elements
/// would take quadratic time.
struct RankedQueue<Element> {
  private struct Level {
    let rank: Int
    var elements: FIFO<Element>
  }

  /// In the order of ranks; none is empty.
  private var levels: [Level] = []

  var isEmpty: Bool { levels.isEmpty }

  mutating func append(_ element: Element, rank: Int) {
    let index = levels.firstIndex { $0.rank >= rank } ?? levels.count
    if index < levels.count, levels[index].rank == rank {
      levels[index].elements.append(element)
    } else {
      levels.insert(Level(rank: rank, elements: FIFO(element)), at: index)
    }
  }

  mutating func popFirst() -> Element? {
    if levels.isEmpty { return nil }
    let element = levels[0].elements.popFirst()
    if levels[0].elements.isEmpty { levels.removeFirst() }
    return element
  }
}
