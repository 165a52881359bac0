/// A broken rule: what it changes in the messages or in a file.
///
/// The histories must notice it. Nothing of it is in the library: it is as if the other side, or another program, had done it.
enum Fault: String, CaseIterable {
  // Copying and following.

  /// A page of a copy is not compared with the log that the copy follows.
  case pageNotVerified
  /// Catching up does not let the server verify the cursor of the page.
  case targetNotVerified
  /// Pages of several cursors are taken for one state.
  case copyWithoutCatchingUp
  /// The server compares the number and the epoch of a cursor, not the nonce.
  case nonceNotCompared
  /// A change of what may be read starts no copy.
  case grantNotCompared
  /// The notes of purges get lost.
  case purgesLost
  /// Changes whose values were purged are applied.
  case purgedChangesApplied
  /// Values that a later purge has taken arrive, and it is not verified that the server's log still has the purge.
  case purgesNotVerified
  /// Writes past the triggers are not noticed.
  case foreignWritesNotSeen

  // Taking in.

  /// A page is applied before the application's rows are read.
  case pullWithoutTakingIn
  /// Rows of other programs join a set that may have been sent.
  case foreignRowsJoin
  /// Of the record of a user that a set removes, only the name is kept.
  case baseKeepsOnlyNames
  /// A user that is added on a replica does not join its subset.
  case ownUsersStayOutside
  /// A user that is added on a replica gets the next id of the file.
  case idsFromTheSequence
  /// What the sync takes back is taken for a set of the application.
  case reversalsTakenIn

  // Sending.

  /// The server does not compare whom the token belongs to with whom the sets were written for.
  case subjectNotCompared
  /// The server decides although the replica's cursor is not in its log.
  case pushCursorNotVerified
  /// Expectations are not sent.
  case expectationsNotSent
  /// A set whose values were purged is sent with nulls.
  case purgedSetsSent
  /// A set whose values were purged is dropped, and not sent as void.
  case voidSetsDropped
  /// A set is sent once.
  case setsSentOnce
  /// Sets are sent although the results of earlier ones were not reached.
  case pushDoesNotWait

  // Deciding at the server.

  /// A set that comes again is decided again.
  case setsDecidedAgain
  /// The server keeps only the result of a replica's last set.
  case onlyLastResultKept
  /// The server looks for a set by its name and number, and not by its nonce alone.
  case identityIsTheNumber
  /// The server takes another set with the same name and number for the same.
  case numberIsEnough
  /// Copies of a file go on under one name.
  case copiesKeepTheName
  /// After a fork, all sets get new numbers, also those that the server knows.
  case forkRenamesAll
  /// The server does not remember through which number it has forgotten decisions.
  case forgettingIsForgotten
  /// The decisions are not part of what is restored.
  case decisionsSurviveRestore

  // Deciding at the replica.

  /// A result counts when it arrives, not when the cursor has reached it.
  case answerAppliesAtOnce
  /// A result does not wait for those of earlier sets.
  case resultsOutOfOrder
  /// A set that comes back is recognized by its name and number.
  case echoWithoutNonce
  /// A set that comes back is decided only for the users that it has changed at the server.
  case echoCountsByItsChanges
  /// The server does not verify the cursor of the answer.
  case answeredNotVerified
  /// A result is reached by a page that was asked for before the result was known.
  case pageProvesNothing
  /// The decision is stored after the cursor has moved.
  case decisionsLost
  /// A refusal is stored after the set is decided.
  case refusalsLost
  /// The values of a refused set stay.
  case refusedValuesStay
  /// A user that the server has added again has the server's values although own sets are undecided.
  case readdedUsersAreTheServers

  // The outbox while other things happen.

  /// A page is applied although a user has joined the subset since it was asked for.
  case subsetNotCompared
  /// A page is applied although the cursor has moved.
  case cursorNotCompared
  /// Results that were not reached stay known when a copy begins.
  case resultsSurviveCopy
  /// A copy replaces what undecided sets have made visible.
  case copyOverOutbox
  /// A copy becomes visible page by page.
  case copyInParts
  /// The compaction of a replica deletes sets that are to be sent.
  case outboxCompacted

  /// Whether the rule is about what the application writes.
  var writes: Bool {
    switch self {
    case .pageNotVerified, .targetNotVerified, .copyWithoutCatchingUp, .nonceNotCompared, .grantNotCompared,
      .purgesLost,
      .purgedChangesApplied, .foreignWritesNotSeen:
      false
    default: true
    }
  }

  /// Whether it is broken in each run of the tests; all are with `--long`.
  var isUsual: Bool {
    switch self {
    // Which one of hundreds of histories notices.
    case .targetNotVerified: false
    case .setsDecidedAgain, .echoWithoutNonce, .foreignRowsJoin, .refusalsLost, .pushCursorNotVerified, .setsSentOnce:
      true
    default: !writes
    }
  }

  /// What has to happen often for the fault to matter.
  var focus: [String] {
    switch self {
    case .pageNotVerified, .targetNotVerified, .decisionsSurviveRestore, .resultsSurviveCopy, .pushDoesNotWait:
      ["restore", "file restore"]
    case .nonceNotCompared, .pushCursorNotVerified, .answeredNotVerified: ["file restore"]
    case .purgesNotVerified: ["file restore", "erase"]
    case .pageProvesNothing: ["lost sets"]
    case .subsetNotCompared: ["overtaken page"]
    case .copyWithoutCatchingUp, .copyOverOutbox, .copyInParts: ["subset"]
    case .grantNotCompared: ["grant"]
    case .purgesLost, .purgedChangesApplied: ["purge"]
    case .purgedSetsSent, .voidSetsDropped: ["erase"]
    case .foreignWritesNotSeen: ["tamper"]
    case .baseKeepsOnlyNames, .reversalsTakenIn: ["discard"]
    case .subjectNotCompared: ["subject"]
    case .identityIsTheNumber, .numberIsEnough, .copiesKeepTheName, .echoWithoutNonce, .forkRenamesAll:
      ["copy", "older"]
    case .forgettingIsForgotten: ["copy", "older", "forget"]
    case .outboxCompacted: ["local compact"]
    default: []
    }
  }

  /// Whether all replicas follow some users only.
  var needsSubsets: Bool { [.subsetNotCompared, .ownUsersStayOutside].contains(self) }

  /// Whether two writers often write the same.
  var needsEqualValues: Bool { self == .echoCountsByItsChanges }

  /// Whether answers often get lost, so that sets stay undecided for long.
  var needsLoss: Bool { [.resultsOutOfOrder, .purgedSetsSent, .readdedUsersAreTheServers].contains(self) }
}
