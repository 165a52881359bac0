import HTTPTypes
import Hummingbird
import UserStore
import UserStoreText

/// The tag of an answer: a hash of a user's exact values, which stays the same after a compaction and on a restored copy, or a given text.
struct ETag: Equatable {
  let text: String

  init(_ text: String) { self.text = text }

  init(of user: User) { self.init(of: user.json) }

  init(of json: String) { self.init(of: [UInt8](json.utf8)) }

  /// FNV-1a with 128 bits, over words of eight bytes: it detects differences, but not deliberate collisions.
  init(of bytes: [UInt8]) {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    var word: UInt64 = 0
    var index = 0
    while index < bytes.count {
      word = word &* 256 | UInt64(bytes[index])
      index += 1
      if index % 8 == 0 || index == bytes.count {
        hash = (hash ^ UInt128(word)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        word = 0
      }
    }
    text = "\"" + String(hash, radix: 16) + "\""
  }
}

/// The tags in a header `If-Match` or `If-None-Match` (RFC 9110, 8.8.3 and 13.1).
struct EntityTags {
  /// The tags with their quotes, and `W/` if they are weak; nil for `*`.
  private let tags: [Substring]?

  /// Reads a header; nil if the request does not have it.
  ///
  /// Throws if it is malformed: misreading it could overwrite changes that the client has not seen.
  init?(_ name: HTTPField.Name, of request: Request) throws(Problem) {
    guard let text = request.headers[name] else { return nil }
    if text.trimmed == "*" {
      tags = nil
      return
    }
    guard let tags = Self.list(text[...]), !tags.isEmpty else {
      throw .badRequest(
        "a tag has quotes, and * is alone", parameter: name.rawName,
        hint: "send the ETag with its quotes: \(name.rawName): \"…\"; or * for any")
    }
    self.tags = tags
  }

  /// Whether the tags include one.
  ///
  /// A proxy that compresses an answer makes its tag weak (`W/"…"`), which only If-None-Match accepts.
  func contain(_ tag: ETag, isWeak: Bool = false) -> Bool {
    tags?.contains { $0 == tag.text || isWeak && $0 == "W/" + tag.text } ?? true
  }

  var isAny: Bool { tags == nil }

  private static func list(_ text: Substring) -> [Substring]? {
    var (rest, tags) = (text.drop(while: isSeparator), [Substring]())
    while !rest.isEmpty {
      let start = rest.hasPrefix("W/") ? rest.dropFirst(2) : rest
      guard start.first == "\"", let end = start.dropFirst().firstIndex(of: "\"") else { return nil }
      tags.append(rest[...end])
      rest = rest[rest.index(after: end)...].drop(while: \.isHeaderSpace)
      guard rest.isEmpty || rest.first == "," else { return nil }
      rest = rest.drop(while: isSeparator)
    }
    return tags
  }

  private static func isSeparator(_ character: Character) -> Bool { character == "," || character.isHeaderSpace }
}

extension StringProtocol {
  /// The text without the white space that may surround it in a header.
  var trimmed: String { String(drop(while: \.isHeaderSpace).reversed().drop(while: \.isHeaderSpace).reversed()) }
}

extension Character {
  fileprivate var isHeaderSpace: Bool { self == " " || self == "\t" }
}
