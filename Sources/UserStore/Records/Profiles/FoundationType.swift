/// The types of Foundation whose `Codable` form is not one to store.
///
/// `JSONEncoder` has an exception for most of them. `UserStoreFoundation` stores all but `Decimal` as attribute values: a program that
/// imported it later could not read values in another form. They are found by their names, because the library does not import
/// Foundation.
enum FoundationType {
  private static let names = Set(
    ["Date", "Data", "UUID", "URL", "Decimal"].flatMap { ["Foundation." + $0, "FoundationEssentials." + $0] })
  /// Whether a type is one of them: to make the name of a type takes longer than the rest of its coding.
  private static let known = Lock<[ObjectIdentifier: Bool]>([:])

  static func isOne(_ type: Any.Type) -> Bool {
    let id = ObjectIdentifier(type)
    if let isOne = known.withLock({ $0[id] }) { return isOne }
    let isOne = names.contains(String(reflecting: type))
    known.withLock { $0[id] = isOne }
    return isOne
  }

  /// - Throws: `StoreError.Code.badValue` for one that is not an `AttributeValue`.
  static func check(_ type: Any.Type, at path: @autoclosure () -> [any CodingKey]) throws(StoreError) {
    guard isOne(type), !(type is any AttributeValue.Type) else { return }
    let name = "\(type)"
    throw StoreError(
      .badValue, "\(path().subject) is of Foundation's type \(name), which is not an attribute value",
      hint: name == "Decimal" ? "store it as text, or as a number of cents" : "import UserStoreFoundation")
  }
}
