/// The change sets that a consumer receives: the parameters of its feed.
struct WantedSets {
  var topics: [Topic] = [.everything]
  var heartbeat: Duration?
}

/// How far an iteration of a consumer has delivered, to find the sets that count as acknowledged because topics hide them.
///
/// Otherwise, a consumer of rare changes would keep the whole log after its last one.
struct IterationProgress {
  /// The end of the last set that was delivered; before the first, where the iteration started.
  private var delivered: Cursor

  init(from start: Cursor) { delivered = start }

  /// Called when the iteration has read a page, after everything that the page before contained was delivered.
  ///
  /// - Parameters:
  ///   - start: The end of the page before, or the start of the iteration.
  ///   - end: The end of the page.
  ///   - lastVisible: The end of the last set in the page that the topics do not hide; nil if there is none.
  ///   - acknowledged: The consumer's position when the page was read.
  /// - Returns: The new position, if everything that was delivered is acknowledged and hidden sets follow it.
  mutating func hasRead(
    after start: Cursor, through end: Cursor, lastVisible: Cursor?, acknowledged: Cursor
  ) -> Cursor? {
    let isUpToDate = acknowledged.epoch == start.epoch && acknowledged.revision >= delivered.revision
    if let lastVisible { delivered = lastVisible }
    let hidden = lastVisible == nil ? end : start
    return isUpToDate && hidden.revision > acknowledged.revision ? hidden : nil
  }
}
