import Testing

@testable import UserStore

/// Bytes as text.
@Suite(.bounded, .serialized) struct Base64Tests {
  @Test func `bytes survive base64, and invalid base64 is rejected`() {
    for count in 0..<20 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 77) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
    #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy")
    for text in ["A", "AB", "AB=", "A===", "AA=A", "AB==", "*AAA", "AAAA="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }
}
