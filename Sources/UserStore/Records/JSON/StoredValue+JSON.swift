extension StoredValue {
  /// The value as JSON text, as usertool prints it.
  ///
  /// Bytes are `{"base64":"AP8="}`, an infinite number is `1e999` or `-1e999`, and a real number has a fraction or an exponent
  /// (`1.0`). In text that is not valid UTF-8, U+FFFD replaces the invalid bytes; other values are exact.
  public var json: String { jsonValue.description }

  /// The JSON value of the same type.
  package var jsonValue: JSON {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(text)
    case .blob(let bytes): .data("base64", bytes)
    case .invalidText(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The JSON value without loss, for exports: text that is not valid UTF-8 is `{"text_base64":"…"}`.
  package var losslessJSON: JSON {
    if case .invalidText(let bytes) = self { .data("text_base64", bytes) } else { jsonValue }
  }

  /// Text from bytes that may not be valid UTF-8.
  package static func text(ofBytes bytes: [UInt8]) -> StoredValue {
    String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .invalidText(bytes)
  }

  /// Whether `json` loses information.
  package var isInvalid: Bool {
    if case .invalidText = self { true } else { false }
  }
}

extension JSON {
  fileprivate static func data(_ name: String, _ bytes: [UInt8]) -> JSON {
    .object([(name, .text(Base64.encode(bytes)))])
  }

  /// The object of a record: its fields, `"invalid":true` if one of them is not valid UTF-8, and `"purged":true` if a purge
  /// erased the values.
  package static func record(_ fields: [(name: String, value: StoredValue)], isPurged: Bool = false) -> JSON {
    var members = fields.map { (name: $0.name, value: $0.value.jsonValue) }
    if fields.contains(where: \.value.isInvalid), !members.contains(where: { $0.name == "invalid" }) {
      members.append(("invalid", .bool(true)))
    }
    if isPurged { members.append(("purged", .bool(true))) }
    return .object(members)
  }
}
