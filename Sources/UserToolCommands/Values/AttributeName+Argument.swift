public import ArgumentParser
public import UserStore
import UserStoreText

/// The names of attributes on the command line.
extension AttributeName: ExpressibleByArgument {
  /// Reads a name that is not empty.
  public init?(argument: String) {
    if argument.isEmpty { return nil }
    self.init(typed: argument)
  }

  /// Completes the names in the database.
  public static var defaultCompletionKind: CompletionKind { Completions.attributes }
}
