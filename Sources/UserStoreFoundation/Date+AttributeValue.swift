public import UserStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as ISO 8601 text in UTC, to the millisecond: `2026-11-21T05:20:11.482Z`.
///
/// What is finer than a millisecond is rounded off when it is stored. A text without a fraction is read too.
extension Date: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue {
    let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
    // A little later, because the style cuts off what stands after the milliseconds, and 0.288 is 0.28799… in a Double.
    return .text(Date(timeIntervalSince1970: milliseconds / 1_000 + 0.000_3).formatted(Self.style(fraction: true)))
  }

  /// Reads it back; nil for a value of another kind.
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
