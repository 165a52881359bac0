/// A queue by rank: elements of lower ranks leave first, and those of one rank in the order of arrival.
///
/// There are few ranks, and one round may defer thousands of actions of each: searching all elements for the lowest rank would
/// take quadratic time.
struct RankedQueue<Element> {
  /// Sorted by rank; none is empty.
  private var levels: [(rank: Int, elements: FIFO<Element>)] = []

  var isEmpty: Bool { levels.isEmpty }

  mutating func append(_ element: Element, rank: Int) {
    let index = levels.firstIndex { $0.rank >= rank } ?? levels.count
    if index < levels.count, levels[index].rank == rank {
      levels[index].elements.append(element)
    } else {
      levels.insert((rank, FIFO(element)), at: index)
    }
  }

  mutating func popFirst() -> Element? {
    if levels.isEmpty { return nil }
    let element = levels[0].elements.popFirst()
    if levels[0].elements.isEmpty { levels.removeFirst() }
    return element
  }
}
