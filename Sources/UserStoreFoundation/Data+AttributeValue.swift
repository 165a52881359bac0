public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as a blob, byte by byte.
extension Data: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .blob(Array(self)) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .blob(let bytes) = storedValue else { return nil }
    self.init(bytes)
  }
}
