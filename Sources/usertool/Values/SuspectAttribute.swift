import UserStore

/// An attribute whose name looks like a mistake in the notation, such as `age!` in `age!>18`.
///
/// Names may have nearly all characters, and cannot be quoted: it is a mistake only if no user has the attribute.
struct SuspectAttribute {
  let attribute: AttributeName
  let failure: Failure

  /// Throws the failure if no user has the attribute.
  func check(in transaction: inout ReadTransaction) throws {
    if try transaction.hasAttribute(attribute) { return }
    throw failure
  }
}
