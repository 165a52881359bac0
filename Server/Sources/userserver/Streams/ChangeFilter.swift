import UserStore
import UserStoreSync

/// Which changes and events a client wants, and may read.
struct ChangeFilter: Sendable {
  private let access: Access
  private let attributes: [AttributeName]
  private let user: User.ID?
  private let operations: Set<String>

  init(_ parameters: Parameters, for access: Access) throws(Problem) {
    self.access = access
    attributes = try parameters.attributes("attribute")
    if let text = parameters["user"] {
      guard let number = Int64(canonical: text) else {
        throw .badRequest("the id of a user is expected", parameter: "user")
      }
      user = User.ID(number)
    } else {
      user = nil
    }
    operations = Set(parameters.all("op"))
    let known = ["insert", "update", "delete", "event"]
    if let other = operations.first(where: { !known.contains($0) }) {
      throw .badRequest(
        "there is no operation \"\(other.prefix(40))\"", parameter: "op", hint: known.joined(separator: " "))
    }
  }

  func accepts(_ entry: UserStore.Entry) -> Bool {
    if !access.rights.shows(entry) { return false }
    return switch entry {
    case .change(let change):
      (user ?? change.user) == change.user && (attributes.isEmpty || attributes.contains(change.attribute))
        && (operations.isEmpty || operations.contains(change.kind.rawValue))
    // An event is about no attribute.
    case .event(let event):
      (user == nil || user == event.user) && attributes.isEmpty
        && (operations.isEmpty || operations.contains("event"))
    }
  }
}
