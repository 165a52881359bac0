#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension String {
  /// Returns whether both have the same UTF-8 bytes, which is how SQLite compares text.
  package func hasSameBytes(as other: String) -> Bool {
    var other = other
    return other.withUTF8 { unsafe hasBytes($0) }
  }

  /// Returns whether `bytes` are its UTF-8.
  func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = self
    return text.withUTF8 { own in
      unsafe own.count == bytes.count && (own.isEmpty || memcmp(own.baseAddress!, bytes.baseAddress!, own.count) == 0)
    }
  }

  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// The first 80 scalars, for messages; a single character may have any number of accents.
  package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(80))) }
}
