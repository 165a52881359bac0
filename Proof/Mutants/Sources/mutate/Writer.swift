/// Writes the mutations of a file into it: all in one text, each with a choice at run time.
struct Writer {
  let source: [UInt8]
  /// In the order of their places; what contains another comes first.
  private let mutations: [Mutation]

  init(source: [UInt8], mutations: [Mutation]) {
    self.source = source
    self.mutations = mutations.sorted { ($0.start, -$0.end, $0.id ?? 0) < ($1.start, -$1.end, $1.id ?? 0) }
  }

  var text: String {
    var result = text(from: 0, to: source.count, mutations[...])
    // Behind the first line, so that the numbers of the lines remain: a file begins with an import or a comment.
    result += "\npublic import CUserStoreSystem\n"
    return result
  }

  /// The text of a part of the file with its mutations, of which none goes beyond the part.
  private func text(from start: Int, to end: Int, _ mutations: ArraySlice<Mutation>) -> String {
    var result = ""
    var position = start
    var rest = mutations
    while let mutation = rest.popFirst() {
      let inner = rest.prefix { $0.start < mutation.end }
      rest = rest.dropFirst(inner.count)
      result += String(decoding: source[position..<mutation.start], as: UTF8.self)
      result += form(mutation, text(from: mutation.start, to: mutation.end, inner))
      position = mutation.end
    }
    return result + String(decoding: source[position..<end], as: UTF8.self)
  }

  private func form(_ mutation: Mutation, _ before: String) -> String {
    let isOn = "mutant(\(mutation.id ?? 0))"
    return switch mutation.form {
    case .choice: "(\(isOn) ? \(mutation.after) : \(before))"
    case .opposite: "(\(isOn) != (\(before)))"
    case .omission: "if !\(isOn) { \(before) }"
    case .alternative: "if \(isOn) { \(mutation.after) } else { \(before) }"
    }
  }
}
