import Foundation

/// Base64 of tokens and keys: with `-` and `_`, and without padding (RFC 7515, appendix C).
enum Base64URL {
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    let text = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    return String(text.prefix { $0 != "=" })
  }

  /// Decodes a text.
  ///
  /// Returns nil for any spelling but the one that `text` writes: one signature must not have several.
  static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = String(text).replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let data = Data(base64Encoded: base64) else { return nil }
    let bytes = [UInt8](data)
    return Self.text(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
  }
}
