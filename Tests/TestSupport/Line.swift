import Foundation

/// A line of the output of `--format jsonl`.
package struct Line: Decodable, Equatable {
  package enum Value: Decodable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(base64: String)
    /// Text that is not valid UTF-8.
    case invalidText(base64: String)

    private enum Key: String, CodingKey {
      case base64
      case textBase64 = "text_base64"
    }

    package init(from decoder: any Decoder) throws {
      if let container = try? decoder.container(keyedBy: Key.self) {
        if let text = try container.decodeIfPresent(String.self, forKey: .textBase64) {
          self = .invalidText(base64: text)
        } else {
          self = .data(base64: try container.decode(String.self, forKey: .base64))
        }
        return
      }
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let integer = try? container.decode(Int64.self) {
        self = .integer(integer)
      } else if let real = try? container.decode(Double.self) {
        self = .real(real)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else {
        // 1e999, which Foundation does not parse.
        self = .real(.infinity)
      }
    }
  }

  package var revision: Int64?
  package var cursor: String?
  package let op: String
  package var user: Int64?
  package var attribute: String?
  package var old: Value = .null
  package var new: Value = .null
  package var at: String?
  package var listener: String?
  package var reason: String?

  private enum CodingKeys: CodingKey {
    case revision, cursor, op, user, attribute, old, new, at, listener, reason
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    revision = try container.decodeIfPresent(Int64.self, forKey: .revision)
    cursor = try container.decodeIfPresent(String.self, forKey: .cursor)
    op = try container.decode(String.self, forKey: .op)
    user = try container.decodeIfPresent(Int64.self, forKey: .user)
    attribute = try container.decodeIfPresent(String.self, forKey: .attribute)
    old = try container.decodeIfPresent(Value.self, forKey: .old) ?? .null
    new = try container.decodeIfPresent(Value.self, forKey: .new) ?? .null
    at = try container.decodeIfPresent(String.self, forKey: .at)
    listener = try container.decodeIfPresent(String.self, forKey: .listener)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
  }

  package static func decode(_ text: String) throws -> Line {
    try JSONDecoder().decode(Line.self, from: Data(text.utf8))
  }

  /// A short form, for comparing many lines.
  package var summary: String {
    "\(op) \(user ?? 0) \(attribute ?? "") \(old.words)>\(new.words)" + (listener.map { " @" + $0 } ?? "")
  }
}

extension Line.Value {
  package var words: String {
    switch self {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .text(let text): "'\(text)'"
    case .data(let base64): "b64:" + base64
    case .invalidText(let base64): "text_b64:" + base64
    }
  }
}
