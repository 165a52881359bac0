extension UserStore {
  /// What was taken out for a user that was removed.
  public struct Purge: Hashable, Sendable {
    /// How many changes of the user the log has, those included that a purge before had blanked.
    public internal(set) var found = 0
    /// How many of them lost their values now.
    public internal(set) var blanked = 0
    /// Whether the -wal file too is free of them.
    ///
    /// False while another program reads in a state from before, which it must be able to see: purge again later. What was
    /// blanked is blanked in any case.
    public internal(set) var isErased = true
  }
}

package typealias Purge = UserStore.Purge
