extension StoredValue {
  /// The value as JSON text, without loss, as usertool prints it.
  ///
  /// Bytes are `{"base64":"AP8="}`, and text that is not valid UTF-8, which another program may store, is
  /// `{"text_base64":"/w=="}`. An infinite number is `1e999` or `-1e999`, and a real number has a fraction or an exponent (`1.0`).
  public var json: String { jsonValue.description }

  package var jsonValue: JSON {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(text)
    case .blob(let bytes): .data("base64", bytes)
    case .invalidText(let bytes): .data("text_base64", bytes)
    }
  }

  /// Text from bytes that may not be valid UTF-8.
  package static func text(ofBytes bytes: [UInt8]) -> StoredValue {
    String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .invalidText(bytes)
  }

  package var isInvalid: Bool {
    if case .invalidText = self { true } else { false }
  }
}

extension JSON {
  fileprivate static func data(_ name: String, _ bytes: [UInt8]) -> JSON {
    .object([(name, .text(Base64.encode(bytes)))])
  }

  /// The object of a record: its fields, and `"purged":true` if a purge erased the values.
  package static func record(_ fields: [(name: String, value: StoredValue)], isPurged: Bool = false) -> JSON {
    var members = fields.map { (name: $0.name, value: $0.value.jsonValue) }
    if isPurged { members.append(("purged", .bool(true))) }
    return .object(members)
  }
}

extension StoredValue: Codable {
  /// Encodes the value as it is in `json`.
  ///
  /// Through `JSONEncoder` and `JSONDecoder`, a real number without a fraction becomes an integer (`1.0` becomes `1`), and an
  /// infinite number throws. The text of `json` is exact.
  public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }

  /// Decodes null, a number, text, `{"base64":"…"}`, `{"text_base64":"…"}`, or a Boolean value as 1 or 0.
  ///
  /// - Throws: `DecodingError` for anything else, and for an integer that needs more than 64 bits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let bool = try? container.decode(Bool.self) {
      self = .integer(bool ? 1 : 0)
    } else if let real = try Self.real(in: container) {
      self = .real(real)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = try Self.data(in: decoder)
    }
  }

  /// Decodes a number that is not a 64-bit integer; nil if it is not a number.
  private static func real(in container: any SingleValueDecodingContainer) throws -> Double? {
    let real: Double
    do { real = try container.decode(Double.self) } catch DecodingError.typeMismatch { return nil } catch {
      // `JSONDecoder` would replace the error by one without a path, which says that the data is not JSON.
      throw outOfRange(container, "the number is out of range", error)
    }
    // An integer that is too large would be rounded to a real number, whose shortest text has at most 17 digits before zeros.
    if let integer = try? container.decode(Int128.self),
      String(integer.magnitude).reversed().drop(while: { $0 == "0" }).count > 17
    {
      throw outOfRange(container, "\(integer) does not fit into 64 bits")
    }
    return real
  }

  private static func outOfRange(
    _ container: any SingleValueDecodingContainer, _ message: String, _ cause: (any Error)? = nil
  ) -> DecodingError {
    .dataCorrupted(.init(codingPath: container.codingPath, debugDescription: message, underlyingError: cause))
  }

  /// Decodes an object that stands for data, the only kind of object that is a value.
  private static func data(in decoder: any Decoder) throws -> StoredValue {
    guard let container = try? decoder.container(keyedBy: TextKey.self), container.allKeys.count == 1,
      let key = container.allKeys.first, ["base64", "text_base64"].contains(key.stringValue)
    else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "a value is null, a number, text, a Boolean value, or {\"base64\":\"…\"}"))
    }
    guard let bytes = Base64.decode(try container.decode(String.self, forKey: key)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "this is not base64")
    }
    return key.stringValue == "base64" ? .blob(bytes) : .text(ofBytes: bytes)
  }
}
