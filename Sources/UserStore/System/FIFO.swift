/// A queue of elements in order of arrival.
///
/// `Array.removeFirst` moves all elements that follow. Here, the index of the front moves instead, and the space before it is
/// released once it is half of the array: amortized constant time.
struct FIFO<Element> {
  /// Removed elements are nil, so that they are released.
  private var elements: [Element?] = []
  private var front = 0

  init() {}

  init(_ first: Element) {
    elements = [first]
  }

  var count: Int { elements.count - front }
  var isEmpty: Bool { front == elements.count }
  var first: Element? { isEmpty ? nil : elements[front] }

  mutating func append(_ element: Element) {
    elements.append(element)
  }

  mutating func popFirst() -> Element? {
    if isEmpty { return nil }
    let element = elements[front].take()
    front += 1
    if isEmpty {
      elements.removeAll(keepingCapacity: elements.capacity < 1_024)
      front = 0
    } else if front >= 64, front * 2 > elements.count {
      elements.removeFirst(front)
      front = 0
    }
    return element
  }
}

extension FIFO: Sendable where Element: Sendable {}
