import Synchronization

/// A collection that returns a token for each inserted element, and removes the element with that token.
///
/// A bag is a value with its elements in the order of insertion. The library does not use it: `Observers` holds handlers. It is
/// for programs that keep other things by token.
public struct Bag<Element> {
  /// Identifies an element of one bag and of its copies; unique in the process.
  public struct Token: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private var entries: [(number: UInt64, element: Element)] = []

  /// Creates an empty bag.
  public init() {}

  /// Inserts an element at the end, even one that equals another element.
  ///
  /// - Parameter element: The element.
  /// - Returns: The token that removes the element.
  public mutating func insert(_ element: Element) -> Token {
    let number = tokenCount.wrappingAdd(1, ordering: .relaxed).newValue
    entries.append((number, element))
    return Token(number: number)
  }

  /// Removes the element with a token.
  ///
  /// - Parameter token: The token from `insert`. If it is nil, or its element is not in the bag, nothing changes.
  /// - Returns: The element, or nil if it was not in the bag.
  @discardableResult
  public mutating func remove(_ token: Token?) -> Element? {
    guard let token, let index = entries.firstIndex(where: { $0.number == token.number }) else { return nil }
    return entries.remove(at: index).element
  }
}

private let tokenCount = Atomic<UInt64>(0)

extension Bag: Sendable where Element: Sendable {}

extension Bag: RandomAccessCollection {
  /// The position of the first element.
  public var startIndex: Int { 0 }

  /// The position after the last element.
  public var endIndex: Int { entries.count }

  /// Accesses the element at a position.
  public subscript(position: Int) -> Element { entries[position].element }
}
