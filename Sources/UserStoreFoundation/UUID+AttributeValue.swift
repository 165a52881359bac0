public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as text, in upper case: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
extension UUID: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .text(uuidString) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self.init(uuidString: text)
  }
}
