/// A place of a file, and what can be broken there.
struct Mutation: Codable {
  enum Kind: String, Codable {
    /// Another operator.
    case `operator`
    /// Another literal.
    case literal
    /// The opposite of a condition or of a Boolean result.
    case negation
    /// A call, an assignment or a jump that is left out.
    case removal
    /// nil or an empty collection in place of what is returned.
    case result
  }

  /// The number that switches it on; assigned by `scripts/mutants`.
  var id: Int?
  let file: String
  let line: Int
  let column: Int
  let kind: Kind
  /// The bytes of the file that are replaced.
  let start: Int
  let end: Int
  /// What the bytes become, with a choice between the two at run time; `$N` is the number.
  let form: Form
  /// What is there, and what the mutant has in its place, for people.
  let before: String
  let after: String

  /// How a choice between two texts is written.
  enum Form: String, Codable {
    /// `(mutant($N) ? after : before)`
    case choice
    /// `(mutant($N) != (before))`
    case opposite
    /// `if !mutant($N) { before }`
    case omission
    /// `if mutant($N) { after } else { before }`
    case alternative
  }
}
