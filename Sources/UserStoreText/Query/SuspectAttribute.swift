import UserStore

/// An attribute whose name looks like a mistake in the notation, such as `age!` in `age!>18`.
///
/// Names may have nearly all characters and cannot be quoted, so the name is a mistake only if no user has the
/// attribute.
package struct SuspectAttribute: Sendable {
  let attribute: AttributeName
  package let mistake: TextError

  /// Throws the mistake if no user has the attribute.
  func check(in transaction: inout ReadTransaction) throws {
    if try transaction.hasAttribute(attribute) { return }
    throw mistake
  }
}
