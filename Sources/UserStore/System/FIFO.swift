/// A queue: elements leave in the order in which they came.
///
/// An array with a front that moves, because `Array.removeFirst` moves all elements that follow. The space in front is given
/// back once it is half of the array, so that an element costs constant time on average.
struct FIFO<Element> {
  /// An element that left is nil: the queue holds no reference to it.
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
