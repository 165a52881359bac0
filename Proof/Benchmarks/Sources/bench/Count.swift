import ArgumentParser
import CFloor
import UserStore
import UserStoreSync

/// Runs one fixed piece of work for callgrind, which counts only the instructions of `floor_counted`.
///
/// Only the calling thread works, because the scheduling of several threads would differ between runs.
struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run one fixed piece of work, to count or profile it.")

  enum Work: String, CaseIterable, ExpressibleByArgument {
    case write
    case writeInC = "write-in-c"
    case writeReplica = "write-replica"
    case replay
    case replayInC = "replay-in-c"
    case open
    case openInC = "open-in-c"
    case users
    case usersInC = "users-in-c"
    case listenable
    case signal
    case observers
    case store
    case send
    case signalSend = "signal-send"
    case churn
    case signalChurn = "signal-churn"
    case storeChurn = "store-churn"
    case topicChurn = "topic-churn"
    case writeColor = "write-color"
    case listValue = "list-value"
    case listMove = "list-move"
    case listLeave = "list-leave"
    case listEnter = "list-enter"
    case listChanges = "list-changes"
    case list10000 = "list-10000"
    case listFirst = "list-first"
    case listRead = "list-read"
    case listInC = "list-in-c"
    case find
    case findInC = "find-in-c"
    case follow
    case writeSet = "write-set"
    case listSet = "list-set"
    case set
    case setBeside1 = "set-beside-1"
    case setBeside3 = "set-beside-3"
    case setIndexed = "set-indexed"
    case setUnique = "set-unique"
    case setCaseless = "set-caseless"
    case setPost = "set-post"
    case readSet = "read-set"
    case updateProfile = "update-profile"
  }

  @Argument(help: "The work. Without it, all are listed: name, count, and description of an operation.")
  var work: Work?

  @Option(help: "The number of operations (default: a fixed number for each work).")
  var operations: Int?

  func run() throws {
    guard let work else {
      for work in Work.allCases { print(work.rawValue, work.operations, work.operation, separator: "\t") }
      return
    }
    let count = operations ?? work.operations
    let run = try work.prepare(count)
    // Runs once before, so that everything that is created at first use exists.
    try run()
    try counted(run)
  }

  /// Calls `body` inside the function that callgrind counts.
  private func counted(_ body: @escaping () throws -> Void) throws {
    final class Call {
      let body: () throws -> Void
      var result: Result<Void, any Error>?
      init(_ body: @escaping () throws -> Void) { self.body = body }
    }
    let call = Call(body)
    floor_counted(
      { context in
        let call = Unmanaged<Call>.fromOpaque(context!).takeUnretainedValue()
        call.result = Result(catching: call.body)
      }, Unmanaged.passUnretained(call).toOpaque())
    try call.result?.get()
  }
}

extension Count.Work {
  private static let listeners = 1_000

  var operations: Int {
    switch self {
    case .write, .writeInC, .writeReplica, .set, .setBeside1, .setBeside3, .setIndexed, .setUnique, .setCaseless,
      .setPost, .readSet,
      .updateProfile:
      5_000
    case .replay, .replayInC: 20_000
    case .listenable, .signal, .observers, .store: 100_000
    case .writeColor, .listValue, .listMove, .listLeave, .listEnter, .listChanges, .list10000: 2_000
    case .writeSet, .listSet: 10_000
    case .open, .openInC: 100
    case .find, .findInC: 5_000
    case .follow: 20_000
    case .listFirst, .listRead, .listInC, .users, .usersInC: CountLists.readRows * 10
    case .send, .signalSend, .churn, .signalChurn, .storeChurn, .topicChurn: 10_000
    }
  }

  var operation: String {
    switch self {
    case .write: "a write of one row, with one listener"
    case .writeInC: "the same write in C, without a listener"
    case .writeReplica: "the same write of the library at a replica that takes writes, offline"
    case .replay: "reading a row of the log, in sets of 500"
    case .replayInC: "reading the same row in C"
    case .open: "opening a store of 1,000 users, reading one, and closing it"
    case .openInC: "the same in C, with two connections"
    case .users: "one of all 5,000 users read"
    case .usersInC: "reading the same row in C"
    case .listenable: "a call of one of 1,000 listeners of a Listenable"
    case .signal: "a call of one of 1,000 subscribers of a Signal"
    case .observers: "a call of one of 1,000 Observers"
    case .store: "a call of one of 1,000 listeners of a store in memory, with its share of the write"
    case .send: "sending a value to the only listener of a Listenable"
    case .signalSend: "sending a value to the only subscriber of a Signal"
    case .churn: "binding a name to a Listenable and unbinding it"
    case .signalChurn: "subscribing to a Signal and disposing of the subscription"
    case .storeChurn: "binding a name to a store's hub and unbinding it"
    case .topicChurn: "binding a name to its own topic in a store's hub and unbinding it"
    case .writeColor: "a write of one hair color, with one listener"
    case .listValue: "the same, which changes a row of a list of 5,000, whose listener takes the steps"
    case .listMove: "a write of one name, which moves a row of the list"
    case .listLeave: "a write of one hair color, by which a row leaves the list"
    case .listEnter: "a write of one hair color, by which a row enters the list"
    case .listChanges: "the steps from one version of a list of 5,000 to the next, one row of which moved"
    case .list10000: "a write of one name, with 10,000 lists, each for a number, one of which has the user"
    case .listFirst: "one of the first 5,000 rows of a list"
    case .listRead: "one of 5,000 users read with the query of the list"
    case .listInC: "reading the same row in C"
    case .find: "a user of 5,000 found by an indexed attribute"
    case .findInC: "the same in C, without a transaction"
    case .follow: "reading a row of the log, in sets of one change"
    case .writeSet: "one of 100 renames in one write"
    case .listSet: "the same, which move rows of a list of 1,000"
    case .set: "a write of one attribute, with one listener"
    case .setBeside1: "the same, beside one unique attribute"
    case .setBeside3: "the same, beside three unique attributes"
    case .setIndexed: "the same, of an attribute with an index"
    case .setUnique: "the same, of a unique attribute"
    case .setCaseless: "the same, of a unique attribute that ignores case"
    case .setPost: "a write of one attribute and an event"
    case .readSet: "a write that reads a user with ten attributes, and sets one"
    case .updateProfile: "the same with update, of a profile with the ten attributes"
    }
  }

  /// Prepares the work, and returns a closure that does `count` operations.
  func prepare(_ count: Int) throws -> () throws -> Void {
    switch self {
    case .write: try Self.write(count)
    case .writeInC: try Self.writeInC(count)
    case .writeReplica: try Self.write(count, isReplica: true)
    case .replay: try Self.replay(count)
    case .replayInC: try Self.replayInC(count)
    case .open: try Self.open(count)
    case .openInC: try Self.openInC(count)
    case .users: try CountLists.read(count) { try $0.read { try $0.users().count } }
    case .usersInC: try CountLists.readInC(count) { floor_list($0.handle) }
    case .listenable: Self.listenable(count / Self.listeners, Self.listeners)
    case .signal: Self.signal(count / Self.listeners, Self.listeners)
    case .observers: Self.observers(count / Self.listeners)
    case .store: try Self.store(count / Self.listeners)
    case .send: Self.listenable(count, 1)
    case .signalSend: Self.signal(count, 1)
    case .churn: Self.churn(count)
    case .signalChurn: Self.signalChurn(count)
    case .storeChurn: try Self.storeChurn(count)
    case .topicChurn: try Self.topicChurn(count)
    case .writeColor: try CountLists.write(.value, count, isFollowed: false)
    case .listValue: try CountLists.write(.value, count)
    case .listMove: try CountLists.write(.move, count)
    case .listLeave: try CountLists.write(.leave, count)
    case .listEnter: try CountLists.write(.enter, count)
    case .listChanges: try CountLists.changes(count)
    case .list10000: try CountLists.many(count)
    case .listFirst: try CountLists.read(count) { try $0.list(ListRequest.query).value.count }
    case .listRead: try CountLists.read(count) { try $0.read { try $0.users(matching: ListRequest.query).count } }
    case .listInC: try CountLists.readInC(count) { Int64($0.query(ListRequest.sql)) }
    case .find: try CountLists.find(count)
    case .findInC: try CountLists.findInC(count)
    case .follow: try Self.replay(count, perSet: 1)
    case .writeSet: try CountLists.set(count, isFollowed: false)
    case .listSet: try CountLists.set(count, isFollowed: true)
    case .set: try CountOwnData.set(count)
    case .setBeside1: try CountOwnData.set(count, prepare: CountOwnData.addUnique("email"))
    case .setBeside3: try CountOwnData.set(count, prepare: CountOwnData.addUnique("email", "phone", "code"))
    case .setIndexed: try CountOwnData.set(count, prepare: { _ = try $0.addIndex(on: "note") })
    case .setUnique: try CountOwnData.set(count, prepare: CountOwnData.addUnique("note"))
    case .setCaseless: try CountOwnData.set(count, prepare: { _ = try $0.addUnique(on: "note", ignoringCase: true) })
    case .setPost: try CountOwnData.set(count, further: { try $0.post("noted", about: $1) })
    case .readSet:
      try CountOwnData.account(count) { users, id, note in
        _ = try users.user(id)
        try users.set(CountOwnData.note, of: id, to: note)
      }
    case .updateProfile:
      try CountOwnData.account(count) { users, id, note in
        try users.update(CountOwnData.Account.self, of: id) { $0.note = note }
      }
    }
  }

  private static func write(_ count: Int, isReplica: Bool = false) throws -> () throws -> Void {
    var configuration = UserStore.Configuration()
    configuration.durability = .normal
    configuration.watchesOtherProcesses = false
    let folder = try TemporaryFolder()
    let store = try UserStore(path: folder.path + "/users.db", configuration: configuration)
    let user: UserStore.User.ID
    if isReplica {
      let server = try UserStore(path: folder.path + "/server.db", configuration: configuration)
      // The id of a user that is added at a replica is longer.
      user = try server.write { try $0.add(name: "NIX") }
      let transport = DirectTransport(to: try SyncService(server))
      let replica = try Replica(of: store, from: transport, users: .all, writes: .queued)
      try Waiting.run { try await replica.catchUp() }
    } else {
      user = try store.write { try $0.add(name: "NIX") }
    }
    store.listeners.bind("screen", to: .attribute(.name, of: user)) { _ in }
    var names = Names()
    return {
      for _ in 0..<count { try store.write { try $0.rename(user, to: names.next()) } }
      withExtendedLifetime(folder) {}
    }
  }

  private static func writeInC(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let floor = try Floor(Fixture.file(in: folder.path, users: 1, isLogged: true), isFull: false, FLOOR_SAME_PLAN)
    var names = Names()
    return {
      for _ in 0..<count { try floor.rename(1..<2, to: names.next()) }
      withExtendedLifetime(folder) {}
    }
  }

  private static func replay(_ count: Int, perSet: Int = 499) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let (path, start) = try Log.file(folder.path, rows: count, perSet: perSet)
    let store = try Fixture.open(path, .normal, watches: false)
    return {
      var cursor = start
      while let sets = try? store.page(after: cursor), let last = sets.last {
        for set in sets { try set.forEach { _ in } }
        cursor = last.cursor
      }
      withExtendedLifetime(folder) {}
    }
  }

  private static func replayInC(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let (path, start) = try Log.file(folder.path, rows: count, perSet: 499)
    let floor = try Floor(path, isFull: false, FLOOR_PLAIN)
    return {
      _ = floor_replay(floor.handle, start.revision.rawValue)
      withExtendedLifetime(folder) {}
    }
  }

  private static func open(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let path = try Fixture.file(in: folder.path, users: 1_000, isLogged: true)
    return {
      for _ in 0..<count {
        let store = try Fixture.open(path, .full, watches: false)
        try expect(store.read { try $0.user(UserStore.User.ID(1)) } == nil ? 0 : 1, 1, "users")
        store.close()
      }
      withExtendedLifetime(folder) {}
    }
  }

  private static func openInC(_ count: Int) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let path = try Fixture.file(in: folder.path, users: 1_000, isLogged: true)
    return {
      for _ in 0..<count {
        let floor = try Floor(path, isFull: true, FLOOR_PLAIN)
        try withExtendedLifetime(floor) { try expect(Int(floor_read_user(floor.handle, 1)), 1, "users") }
      }
      withExtendedLifetime(folder) {}
    }
  }

  private static func listenable(_ rounds: Int, _ listeners: Int) -> () throws -> Void {
    let (source, listenable) = Listenable.make(0)
    for index in 0..<listeners { listenable.bind(HubDelivery.listenerName(index)) { _ in } }
    return {
      for value in 0..<rounds { source.send(value) }
      withExtendedLifetime(listenable) {}
    }
  }

  private static func signal(_ rounds: Int, _ listeners: Int) -> () throws -> Void {
    let (source, signal) = Signal<Int>.make()
    let tokens = (0..<listeners).map { _ in signal.subscribe { _ in } }
    return {
      for value in 0..<rounds { source.send(value) }
      withExtendedLifetime(tokens) {}
    }
  }

  private static func observers(_ rounds: Int) -> () throws -> Void {
    let (source, observers) = Observers<HubDelivery.Handler>.make()
    let tokens = (0..<listeners).map { _ in observers.add(HubDelivery.Handler { _ in }) }
    return {
      for value in 0..<rounds { source.send(value) }
      withExtendedLifetime((observers, tokens)) {}
    }
  }

  private static func store(_ rounds: Int) throws -> () throws -> Void {
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    for index in 0..<listeners {
      store.listeners.bind(HubDelivery.listenerName(index), to: .attribute(.name, of: user)) { _ in }
    }
    var names = Names()
    return { for _ in 0..<rounds { try store.write { try $0.rename(user, to: names.next()) } } }
  }

  private static func churn(_ count: Int) -> () throws -> Void {
    let names = (0..<count).map(HubDelivery.listenerName)
    let (source, listenable) = Listenable.make(0)
    return {
      for name in names { listenable.bind(name) { _ in } }
      for name in names { listenable.unbind(name) }
      withExtendedLifetime(source) {}
    }
  }

  private static func signalChurn(_ count: Int) -> () throws -> Void {
    let (source, signal) = Signal<Int>.make()
    return {
      let tokens = (0..<count).map { _ in signal.subscribe { _ in } }
      for token in tokens { token.dispose() }
      withExtendedLifetime(source) {}
    }
  }

  private static func storeChurn(_ count: Int) throws -> () throws -> Void {
    let names = (0..<count).map(HubDelivery.listenerName)
    let store = try UserStore.inMemory()
    return {
      for name in names { store.listeners.bind(name, to: .everything) { _ in } }
      for name in names { store.listeners.unbind(name, from: .everything) }
    }
  }

  private static func topicChurn(_ count: Int) throws -> () throws -> Void {
    let topics = (1...count).map { UserStore.Topic.attribute(.name, of: UserStore.User.ID(Int64($0))) }
    let store = try UserStore.inMemory()
    return {
      for topic in topics { store.listeners.bind("screen", to: topic) { _ in } }
      for topic in topics { store.listeners.unbind("screen", from: topic) }
    }
  }
}
