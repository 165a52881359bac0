extension UserStore {
  /// The result of purging a removed user.
  public struct Purge: Hashable, Sendable {
    /// The number of the user's changes in the log, and of events about the user, including those that an earlier purge blanked.
    public internal(set) var found = 0
    /// The number of changes and events that lost their values now.
    public internal(set) var blanked = 0
    /// Whether the values are erased from the -wal file too.
    ///
    /// False while another program's transaction reads an older state, which has to stay readable: purge again later. The
    /// changes in the log are blanked in any case.
    public internal(set) var isErased = true
  }
}

package typealias Purge = UserStore.Purge
