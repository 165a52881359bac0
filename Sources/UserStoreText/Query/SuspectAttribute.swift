import UserStore

/// An attribute whose name looks like a mistake in the notation, such as `age!` in `age!>18`.
///
/// Names may have nearly all characters and cannot be quoted, so it is a mistake only if no user has the attribute.
package struct SuspectAttribute: Sendable {
  let attribute: AttributeName
  package let mistake: TextError

  func check(in transaction: inout ReadTransaction) throws {
    if try transaction.hasAttribute(attribute) { return }
    throw mistake
  }
}
