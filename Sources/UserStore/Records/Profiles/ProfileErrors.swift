extension StoreError {
  /// The error of an attribute that does not decode: `the role of user 7 is "boss", not a Role`.
  init(_ error: any Error, decoding type: Any.Type, from decoder: ValueDecoder, of id: User.ID) {
    let attribute = "the \(AttributeName(decoder.codingPath[0].stringValue)) of user \(id)"
    let message =
      switch error {
      case DecodingError.keyNotFound(let key, let context) where context.codingPath.first != nil:
        "\(attribute) has no \"\((context.codingPath.dropFirst() + [key]).text)\""
      case DecodingError.typeMismatch(_, let context) where context.codingPath.count > 1,
        DecodingError.valueNotFound(_, let context) where context.codingPath.count > 1,
        DecodingError.dataCorrupted(let context) where context.codingPath.count > 1:
        "\(attribute) is not \(name(of: type)): \"\(context.codingPath.dropFirst().text)\" is \(context.debugDescription)"
      default: "\(attribute) is \(decoder.shown), not \(name(of: type))"
      }
    self.init(.undecodable, message, cause: error)
  }

  /// The error of a profile that does not decode.
  init(_ error: any Error, decoding type: Any.Type, of id: User.ID) {
    if let error = error as? StoreError {
      self = error
    } else {
      self.init(.undecodable, "user \(id) is not \(name(of: type)): \(error)", cause: error)
    }
  }
}

/// The name of a type with its article: `a Role`, `an Address`.
func name(of type: Any.Type) -> String {
  // Not of Optional, which every value in the store could be.
  let name = "\((type as? any Wrapping.Type)?.wrapped ?? type)"
  return ("AEIO".contains(name.prefix(1)) ? "an " : "a ") + name
}

private protocol Wrapping {
  static var wrapped: Any.Type { get }
}

extension Optional: Wrapping {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension StoredValue {
  /// A short text, in the quotes of JSON.
  var quotedForMessages: String {
    guard case .text = self else { return forMessages }
    return "\"" + forMessages.dropFirst().dropLast() + "\""
  }
}
