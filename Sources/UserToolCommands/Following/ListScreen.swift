import Dispatch
import UserStore
import UserStoreText

/// Draws a list when its rows, its marks, or the terminal's size change, at most about 30 times a second.
final class ListScreen: Sendable {
  private struct State {
    var frame: ListFrame
    var shown = Rows()
    var hasRows = false
    /// The end of a mark for which a frame is already scheduled.
    var nextEnd: Int64?
  }

  private let state: Lock<State>
  private let style: Style
  private let wakes: AsyncStream<Void>
  private let waker: AsyncStream<Void>.Continuation

  private static let interval = Duration.milliseconds(33)
  /// With more steps than this at once, nothing is marked.
  private static let markLimit = 1_000

  init(_ style: Style, _ request: ListRequest) {
    self.style = style
    state = Lock(
      State(
        frame: ListFrame(
          users: [], count: 0, revision: Revision(rawValue: 0), limit: request.query.limit, first: request.attributes)))
    // Changes while a frame is drawn lead to one more frame.
    (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    observeTerminal()
  }

  /// Shows another version of the list; nil keeps the last frame until there are rows of another file.
  func show(_ rows: Rows?) {
    guard let rows else { return state.withLock { $0.hasRows = false } }
    let old = state.withLock { $0.hasRows ? $0.shown : nil }
    let steps = old.map { rows.rowChanges(from: $0).steps } ?? []
    let now = System.uptime
    state.withLock { state in
      if steps.count <= Self.markLimit { for step in steps { state.frame.marks.add(step, at: now) } }
      (state.shown, state.hasRows) = (rows, true)
      state.frame.revision = rows.cursor?.revision ?? state.frame.revision
    }
    waker.yield()
  }

  func run() async {
    for await _ in wakes {
      draw()
      // A terminal cannot show a burst of changes faster.
      try? await Task.sleep(for: Self.interval)
    }
    // The last frame stays on the terminal, without marks.
    state.withLock { $0.frame.marks = ListMarks() }
    draw()
    LiveTerminal.shared.end(isFinal: false)
  }

  func finish() { waker.finish() }

  private func draw() {
    let size = LiveTerminal.shared.size
    let (frame, end) = state.withLock { state in
      // Before the frame is taken, which must not contain expired marks.
      let end = state.frame.marks.expire(at: System.uptime)
      let isScheduled = end == state.nextEnd
      state.nextEnd = end
      state.frame.users = Array(state.shown.prefix(size.rows))
      state.frame.count = state.shown.count
      return (state.hasRows ? state.frame : nil, isScheduled ? nil : end)
    }
    if let frame { LiveTerminal.shared.draw(frame.lines(style, columns: size.columns, rows: size.rows)) }
    guard let end else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(max(0, end - System.uptime)))) { [waker] in
      waker.yield()
    }
  }

  /// Draws again when the size changes; while Ctrl-Z stops the process, the shell has the terminal.
  private func observeTerminal() {
    Signals.shared.observe(System.windowChange) { [waker] in waker.yield() }
    Signals.shared.observe(System.terminalStop) {
      LiveTerminal.shared.end(isFinal: false)
      System.stop()
    }
    Signals.shared.observe(System.continue) { [waker] in waker.yield() }
  }
}

extension ListMarks {
  fileprivate mutating func add(_ step: RowChanges.Step, at now: Int64) {
    switch step {
    case .insert(let user, _): add(nil, of: user.id, at: now)
    case .update(let user, _, let changed), .move(let user, _, _, let changed): add(changed, of: user.id, at: now)
    case .remove: break
    }
  }
}
