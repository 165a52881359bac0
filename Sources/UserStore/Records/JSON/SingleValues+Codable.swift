extension UserStore.Cursor: Codable {
  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

  /// Decodes a cursor from its text.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for other text, with the `StoreError` of `init(_:)` as the underlying error.
  public init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    do { try self.init(text) } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.message, underlyingError: error))
    }
  }
}

extension UserStore.User.ID: Codable {
  /// Encodes the number.
  public func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }

  /// Decodes an identifier from a number.
  ///
  /// - Throws: `DecodingError` for anything but a 64-bit integer.
  public init(from decoder: any Decoder) throws { self.init(rawValue: try decoder.integer()) }
}

extension UserStore.Revision: Codable {
  /// Encodes the number.
  public func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }

  /// Decodes a revision from a number.
  ///
  /// - Throws: `DecodingError` for anything but a 64-bit integer.
  public init(from decoder: any Decoder) throws { self.init(rawValue: try decoder.integer()) }
}

extension Decoder {
  /// Decodes a 64-bit integer.
  ///
  /// For another number, `JSONDecoder` throws an error that it later replaces with one that has no path and says that the data
  /// is not JSON.
  fileprivate func integer() throws -> Int64 {
    do { return try Int64(from: self) } catch let error where !(error is DecodingError) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "expected a 64-bit integer", underlyingError: error))
    }
  }
}

extension UserStore.Color: Codable {
  /// Encodes `#rrggbb`.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

  /// Decodes a color from text that `init(_:)` accepts.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for other text.
  public init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    guard let color = Self(text) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "\(StoredValue.text(text).forMessages) is not a color; use #rrggbb"))
    }
    self = color
  }
}

extension AttributeName: Codable, CodingKeyRepresentable {
  /// Encodes the name as text.
  public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }

  /// Decodes a name from text; the store checks it when it writes a value.
  public init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }

  /// The name as the key of a dictionary.
  public var codingKey: any CodingKey { TextKey(text) }

  /// Creates a name from the key of a dictionary.
  public init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}
