import Synchronization

/// A collection that returns a token for each element that is inserted, and removes the element with that token.
///
/// A value with its elements in the order of insertion. The library does not use it; listeners are held by `Observers`. It is
/// one of the features of the systems that the library grew from, for programs that keep other things by token.
public struct Bag<Element> {
  /// Identifies an element of one bag and of its copies; unique in the process.
  public struct Token: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private var entries: [(number: UInt64, element: Element)] = []

  /// Makes an empty bag.
  public init() {}

  /// Inserts an element at the end.
  ///
  /// - Parameter element: The element; a bag may hold equal elements.
  /// - Returns: the token that removes the element.
  public mutating func insert(_ element: Element) -> Token {
    let number = tokenCount.wrappingAdd(1, ordering: .relaxed).newValue
    entries.append((number, element))
    return Token(number: number)
  }

  /// Removes an element.
  ///
  /// - Parameter token: The token from `insert`. nil, and the token of an element that is not in the bag, change nothing.
  /// - Returns: the element, if it was in the bag.
  @discardableResult
  public mutating func remove(_ token: Token?) -> Element? {
    guard let number = token?.number else { return nil }
    let place = entries.firstIndexInOrder { $0.number >= number }
    guard place < entries.count, entries[place].number == number else { return nil }
    return entries.remove(at: place).element
  }
}

/// The number of tokens that all bags have returned so far.
private let tokenCount = Atomic<UInt64>(0)

extension Bag: Sendable where Element: Sendable {}

extension Bag: RandomAccessCollection {
  /// The position of the first element.
  public var startIndex: Int { 0 }

  /// The position after the last element.
  public var endIndex: Int { entries.count }

  /// The element at a position.
  public subscript(position: Int) -> Element { entries[position].element }
}

extension RandomAccessCollection where Index == Int {
  /// The first index at which `isReached` is true; it must be true at every later index too.
  fileprivate func firstIndexInOrder(where isReached: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
