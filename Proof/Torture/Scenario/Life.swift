import Glibc
import Synchronization
import TortureSupport
import UserStore

/// The life of a store, from when it is first opened until it is last closed.
///
/// Each step runs regardless of whether the one before it failed. A store that must be reopened is reopened.
final class Life {
  let options: Options
  var random: SplitMix64
  var consumer: UserStore.Consumer?
  private(set) var store: UserStore?
  private var count = 0
  /// The cursor of each write's set, as the listener received it.
  private let ends = Ends()

  init(_ options: Options) {
    self.options = options
    random = SplitMix64(seed: options.seed)
  }

  func run() async {
    limitDescriptors()
    for _ in 0..<3 { write() }
    await writeGroup(of: 5)
    await consume()
    backUp(replacing: false)
    writeForeign()
    write()
    takeEffect()
    makeUnique()
    compact()
    liftLimit()
    purge()
    write()
    close()
    await consume()
    await writeGroup(of: 3)
    backUp(replacing: true)
    write()
    close()
  }

  // MARK: Steps

  /// Tries a step, and announces its result or its error.
  func attempt(_ name: String, _ body: (UserStore) throws -> [Announcement]) {
    guard let store = opened() else { return }
    say(.begun(name))
    do { for announcement in try body(store) { say(announcement) } } catch { failed(name, error) }
  }

  func failed(_ name: String, _ error: any Error) { failed([(name, error)]) }

  /// Announces several failures that have one cause.
  func failed(_ failures: [(name: String, error: any Error)]) {
    for (name, error) in failures { say(.failed(name, error)) }
    let codes = failures.compactMap { ($0.error as? StoreError)?.code }
    if codes.contains(where: { [.commitUnknown, .mustReopen, .moved].contains($0) }) { close() }
  }

  /// The store, which is opened if it is closed.
  func opened() -> UserStore? {
    if let store { return store }
    say(.begun("open"))
    do {
      let opened = try UserStore(path: options.database, configuration: options.configuration)
      listen(to: opened)
      store = opened
      say(.opened)
    } catch { say(.failed("open", error)) }
    return store
  }

  func close() {
    guard let open = store else { return }
    say(.begun("close"))
    consumer = nil
    store = nil
    open.close()
    say(.closed)
  }

  private func listen(to store: UserStore) {
    store.listeners.bind("announcer", to: .everything) { [ends] set in
      let announced = try AnnouncedSet(set)
      say(.told(announced))
      if let origin = announced.origin { ends[origin] = announced.cursor }
    }
  }

  // MARK: Writing

  func nextName(_ prefix: String) -> String {
    count += 1
    return "\(prefix)\(count)"
  }

  func nextWrite() -> PlannedWrite { PlannedWrite(nextName("w"), &random) }

  /// The announcement of a write that returned.
  func written(_ name: String) -> Announcement {
    .written(name, cursor: ends[name] ?? "-")
  }

  func write() {
    let planned = nextWrite()
    attempt(planned.name) { store in
      do { try perform(planned, on: store) } catch {
        if options.defect != .ignoresErrors { throw error }
      }
      return [written(planned.name)]
    }
  }

  private func perform(_ planned: PlannedWrite, on store: UserStore) throws {
    try store.write(origin: planned.name) { users in
      try planned.perform(in: &users)
      if options.defect == .announcesEarly { say(written(planned.name)) }
    }
  }

  // MARK: Descriptors

  private func limitDescriptors() {
    if let descriptors = options.descriptors { setLimit(UInt(descriptors)) }
  }

  private func liftLimit() {
    guard options.descriptors != nil else { return }
    setLimit(1_024)
    say(.done("limit"))
  }

  private func setLimit(_ limit: UInt) {
    var limits = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    limits.rlim_cur = limit
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
  }
}

private final class Ends: Sendable {
  private let ends = Mutex<[String: String]>([:])

  subscript(name: String) -> String? {
    get { ends.withLock { $0[name] } }
    set { ends.withLock { $0[name] = newValue } }
  }
}
