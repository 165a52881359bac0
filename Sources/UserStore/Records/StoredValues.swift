/// The values of a user as they are stored, by attribute.
///
/// Names are told apart by their bytes, as SQLite tells them apart: a dictionary of strings would take the composed and
/// the decomposed form of an accented letter for one name, and lose one of two values.
public struct StoredValues: Hashable, Sendable {
  /// By the names as stored text, which is compared by its bytes.
  private var values: [StoredValue: StoredValue] = [:]

  /// None.
  public init() {}

  /// The value of an attribute; nil when it is not set.
  public subscript(name: String) -> StoredValue? {
    get { values[.text(name)] }
    set { values[.text(name)] = newValue }
  }

  /// How many attributes are set.
  public var count: Int { values.count }

  /// The names of the attributes that are set, in the order of their bytes.
  public var names: [String] {
    values.keys.compactMap { String(storedValue: $0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

extension StoredValues: Sequence {
  /// Goes through names and values, in the order of the names' bytes.
  public func makeIterator() -> IndexingIterator<[(name: String, value: StoredValue)]> {
    names.compactMap { name in self[name].map { (name: name, value: $0) } }.makeIterator()
  }
}

extension StoredValues: ExpressibleByDictionaryLiteral {
  /// Makes them of names and values; of a name that comes twice the last value counts.
  ///
  /// - Parameter elements: Names and values.
  public init(dictionaryLiteral elements: (String, StoredValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}
