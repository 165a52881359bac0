public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as a blob.
extension Data: AttributeValue {
  /// The bytes as a blob.
  public var storedValue: StoredValue { .blob(Array(self)) }

  /// Creates data from a stored value, or returns nil if it is not a blob.
  public init?(storedValue: StoredValue) {
    guard case .blob(let bytes) = storedValue else { return nil }
    self.init(bytes)
  }
}

/// Stored as ISO 8601 text in UTC, rounded to the millisecond: `2026-11-21T05:20:11.482Z`.
///
/// Texts with more digits would not sort correctly among those in existing files. A date that was read may therefore differ
/// from the one that was set, such as `Date.now`: compare it with `storable`. A birthday is not a date but a ``CalendarDay``.
extension Date: AttributeValue {
  /// The date as it would be read back after storing it: rounded to the millisecond.
  public var storable: Date { Date(storedValue: storedValue) ?? self }

  /// The date as text.
  public var storedValue: StoredValue {
    let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
    // A little later: the style truncates to milliseconds, and 0.288 is 0.28799… in a Double.
    return .text(Date(timeIntervalSince1970: milliseconds / 1_000 + 0.000_3).formatted(Self.style(fraction: true)))
  }

  /// Creates a date from a stored value, or returns nil if it is not a date as ISO 8601 text, with or without a fraction.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    let date = try? Self.style(fraction: true).parse(text)
    guard let date = date ?? (try? Self.style(fraction: false).parse(text)) else { return nil }
    self = date
  }

  private static func style(fraction: Bool) -> ISO8601FormatStyle {
    ISO8601FormatStyle(includingFractionalSeconds: fraction)
  }
}

/// Stored as text, in upper case: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
extension UUID: AttributeValue {
  /// The UUID as text.
  public var storedValue: StoredValue { .text(uuidString) }

  /// Creates a UUID from a stored value, or returns nil if it is not a UUID as text.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self.init(uuidString: text)
  }
}

/// Stored as text: `https://example.com/zoe`.
extension URL: AttributeValue {
  /// The URL as text, with its base.
  public var storedValue: StoredValue { .text(absoluteString) }

  /// Creates a URL from a stored value, or returns nil if it is not a URL as text.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self.init(string: text)
  }
}
