import Foundation
import Hummingbird
import UserStore
import UserStoreText

/// The parameters of a request's address; a mistyped one is an error.
struct Parameters {
  private var values: [(name: String, value: String)] = []

  /// Reads the query; throws for an unknown parameter, and for one that is repeated but must not be.
  init(_ request: Request, once: [String] = [], repeated: [String] = []) throws(Problem) {
    for pair in (request.uri.query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0])
      guard once.contains(name) || repeated.contains(name) else {
        let known = (once + repeated).sorted()
        throw .badRequest(
          "there is no parameter \"\(name.prefix(40))\"", parameter: String(name.prefix(40)),
          hint: known.isEmpty ? "this address has no parameters" : "the parameters are: " + known.joined(separator: " ")
        )
      }
      if once.contains(name), values.contains(where: { $0.name == name }) {
        throw .badRequest("the parameter is given twice", parameter: name)
      }
      if all(name).count == Self.repetitionLimit {
        throw .badRequest("the parameter is given more than \(Self.repetitionLimit) times", parameter: name)
      }
      values.append((name, try Self.decoded(parts.count > 1 ? parts[1] : "")))
    }
  }

  private static let repetitionLimit = 500

  private static func decoded(_ text: Substring) throws(Problem) -> String {
    guard let text = text.replacing("+", with: " ").removingPercentEncoding else {
      throw .badRequest("the address is not percent-encoded UTF-8")
    }
    return text
  }

  subscript(name: String) -> String? { values.first { $0.name == name }?.value }

  func all(_ name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(canonical: text), range.contains(number) else {
      throw .badRequest("a whole number from \(range.lowerBound) to \(range.upperBound) is expected", parameter: name)
    }
    return number
  }

  func flag(_ name: String) throws(Problem) -> Bool {
    switch self[name] {
    case "true": return true
    case nil, "false": return false
    default: throw .badRequest("true or false is expected", parameter: name)
    }
  }

  func attributes(_ name: String) throws(Problem) -> [AttributeName] {
    let texts = all(name)
    if texts.contains("") { throw .badRequest("the name of an attribute is missing", parameter: name) }
    // More long names would exceed a request's head, which SwiftNIO refuses without a body.
    if texts.count > 20 { throw .badRequest("the parameter is given more than 20 times", parameter: name) }
    for text in texts {
      let hasControl = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
      guard text.unicodeScalars.count <= 200, !hasControl else {
        throw .badRequest("a name has at most 200 characters, and no control characters", parameter: name)
      }
    }
    return texts.map { AttributeName($0) }
  }

  // MARK: Queries

  static let once = ["limit", "after"]
  static let repeated = ["where", "with", "without", "sort"]
  static let rowLimit = 1_000

  func query() throws(Problem) -> QueryText {
    var text = QueryText()
    text.conditions = all("where")
    text.present = all("with")
    text.absent = all("without")
    text.order = all("sort")
    text.limit = try integer("limit", in: 1...Self.rowLimit) ?? 100
    text.place = self["after"]
    return text
  }
}

extension FixedWidthInteger {
  /// Reads a number in its only spelling: without a plus sign and leading zeros, as in JSON.
  init?(canonical text: String) {
    self.init(text)
    if String(self) != text { return nil }
  }
}
