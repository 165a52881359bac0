extension UserStore {
  /// A color with 8 bits each of red, green and blue, stored and printed as `#rrggbb`.
  public struct Color: Hashable, Sendable {
    /// The red part, from 0 to 255.
    public let red: UInt8
    /// The green part, from 0 to 255.
    public let green: UInt8
    /// The blue part, from 0 to 255.
    public let blue: UInt8

    /// Creates a color from its parts.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }

    /// Creates a color from `#rrggbb`, in upper or lower case, or one of `Color.names`; nil for other text.
    public init?(_ text: String) {
      // Letters outside of ASCII can have ASCII letters as their lowercase form: the Kelvin sign is one.
      guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      let lowercased = text.lowercased()
      if let number = Self.named[lowercased] {
        self.init(number)
        return
      }
      let digits = lowercased.utf8.dropFirst()
      guard lowercased.utf8.first == UInt8(ascii: "#"), digits.count == 6,
        digits.allSatisfy({ Self.hexDigits.contains($0) }), let number = UInt32(lowercased.dropFirst(), radix: 16)
      else { return nil }
      self.init(number)
    }

    private init(_ number: UInt32) {
      self.init(red: UInt8(number >> 16 & 0xFF), green: UInt8(number >> 8 & 0xFF), blue: UInt8(number & 0xFF))
    }

    /// The names of colors, sorted: the usual ones of hair, and the sixteen of HTML.
    public static var names: [String] { named.keys.sorted() }

    private static let hexDigits = Set("0123456789abcdef".utf8)

    private static let named: [String: UInt32] = [
      "auburn": 0xA52A2A, "black": 0x000000, "blond": 0xFAF0BE, "blonde": 0xFAF0BE, "brown": 0x6A4E42,
      "chestnut": 0x954535, "ginger": 0xB06500, "grey": 0x808080, "gray": 0x808080, "red": 0xFF0000, "silver": 0xC0C0C0,
      "white": 0xFFFFFF, "aqua": 0x00FFFF, "blue": 0x0000FF, "fuchsia": 0xFF00FF, "green": 0x008000, "lime": 0x00FF00,
      "maroon": 0x800000, "navy": 0x000080, "olive": 0x808000, "orange": 0xFFA500, "pink": 0xFFC0CB, "purple": 0x800080,
      "teal": 0x008080, "yellow": 0xFFFF00,
    ]
  }
}

extension UserStore.Color: AttributeValue, CustomStringConvertible {
  /// The color as `#rrggbb`.
  public var description: String {
    "#" + [red, green, blue].map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
  }

  /// The color as it is stored.
  public var storedValue: StoredValue { .text(description) }

  /// Creates a color from stored text, only from `#rrggbb`: a name in the database would be a second spelling of a value.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue, text.utf8.first == UInt8(ascii: "#") else { return nil }
    self.init(text)
  }
}

package typealias Color = UserStore.Color
