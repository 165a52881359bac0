import Synchronization

/// A collection that gives a token for each element that is put in, and takes the element out for it.
///
/// A value: elements in the order in which they were put in. The library does not use it: listeners are held by `Observers`.
/// It is one of the features of the systems that the library grew from, for anything else that comes and goes in a program.
public struct Bag<Element> {
  /// Names an element of one bag, and of its copies; never given twice in a process.
  public struct Token: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private var entries: [(number: UInt64, element: Element)] = []

  /// Makes an empty bag.
  public init() {}

  /// Puts an element in, at the end.
  ///
  /// - Parameter element: Whatever; equal ones are not the same.
  /// - Returns: what takes it out again.
  public mutating func insert(_ element: Element) -> Token {
    let number = tokenCount.wrappingAdd(1, ordering: .relaxed).newValue
    entries.append((number, element))
    return Token(number: number)
  }

  /// Takes an element out.
  ///
  /// - Parameter token: What `insert` gave; nil, and the token of an element that is not there, change nothing.
  /// - Returns: the element, if it was there.
  @discardableResult
  public mutating func remove(_ token: Token?) -> Element? {
    guard let number = token?.number else { return nil }
    let place = entries.firstIndexInOrder { $0.number >= number }
    guard place < entries.count, entries[place].number == number else { return nil }
    return entries.remove(at: place).element
  }
}

/// The tokens that were given so far, by all bags.
private let tokenCount = Atomic<UInt64>(0)

extension Bag: Sendable where Element: Sendable {}

extension Bag: RandomAccessCollection {
  /// Where the first element is.
  public var startIndex: Int { 0 }

  /// Behind the last element.
  public var endIndex: Int { entries.count }

  /// The element at a place.
  public subscript(position: Int) -> Element { entries[position].element }
}

extension RandomAccessCollection where Index == Int {
  /// The first place at which `isReached` holds, when it holds at every later one too.
  fileprivate func firstIndexInOrder(where isReached: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
