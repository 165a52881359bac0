import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import ServiceLifecycle
import Synchronization
import UnixSignals
import UserStore
import UserStorePostgres
import UserStoreSync
import UserStoreText

/// Serves a database until a signal.
struct Serving {
  private let options: Options

  init(_ options: Options) { self.options = options }

  func run() async throws {
    let descriptors = Descriptors.raise() - Descriptors.reserve
    // The spare descriptors are for connections that are being closed to make room, or refused.
    let connections = Connections(descriptors - Self.spare)
    let streams = try streamLimit(connections.limit)
    let token =
      try options.noToken ? nil : options.tokenFile.map { path throws(Failure) in try Token(file: path) } ?? Token()
    let accessKeys = try await options.access.keys()
    let (store, name, isNew) =
      switch try options.database {
      case .file(let path): try await open(path: path)
      case .postgres(let url): try open(url: url)
      }
    let replicas = try replicas(of: store, name)
    if accessKeys != nil, !options.readOnly { await addOwnerIndex(to: store) }
    let shutdown = ShutdownTrigger()
    let requestGuard = RequestGuard(token: token, keys: accessKeys, allowedOrigins: options.allowOrigin)
    let (memory, bell) = (Budget.memory(mebibytes: options.maxMemory), Bell())
    let registry = MetricsRegistry(help: Measured.help)
    MetricsSystem.bootstrap(registry)
    let api = API(
      store: store, replicas: replicas, requestGuard: requestGuard,
      rate: RequestRate(perMinute: options.requestsPerMinute), streams: .streams(streams), memory: memory, bell: bell,
      queries: Queries(limit: options.queryTimeout.duration),
      ownership: replicas?.ownership ?? SyncService.OwnershipHistory(of: store),
      registry: registry,
      settings: API.Settings(
        database: name, isReadOnly: options.readOnly, heartbeat: options.heartbeat.duration,
        streamAge: options.streamAge.duration, userByteLimit: options.maxUserSize << 10),
      logger: Self.logger,
      onReplaced: {
        shutdown.trigger(because: Failure(1, "\(name) was moved, deleted, or replaced", hint: "start again"))
      },
      endReason: { shutdown.failure == nil ? "shutdown" : "replaced" },
      healthCheck: HealthCheck { _ = try await store.read { users in try users.cursor } })
    let listener = listen(to: store, api)
    defer { listener.dispose() }

    let address = options.listen
    let app = Application(
      responder: api,
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [ConnectionDeadlines(connections), MalformedRequests()])),
      configuration: ApplicationConfiguration(
        address: .hostname(address.host, port: address.port),
        availableConnectionsDelegate: .maximum(descriptors, logger: Self.logger)),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? address.port
        requestGuard.setNames(address.names(port: port) + options.host.flatMap { [$0, "\($0):\(port)"] })
        StandardError.write("userserver: \(isNew ? "created" : "serving") \(name)")
        warnWithoutProc()
        if let accessKeys { Self.announce(accessKeys) }
        announce(port: port, token: options.tokenFile == nil ? token : nil)
      },
      logger: Self.logger)
    let ending = Ending(memory: memory, store: store) { shutdown.failure?.status ?? 0 }
    var services = ServiceGroupConfiguration(
      services: [ClosingService(store: store), app, ending] + (accessKeys.map { [$0] } ?? []),
      gracefulShutdownSignals: [.sigint, .sigterm], logger: Self.logger)
    // A client that does not read must not delay the shutdown.
    services.maximumGracefulShutdownDuration = .seconds(3)
    let group = ServiceGroup(configuration: services)
    shutdown.onTrigger { await group.triggerGracefulShutdown() }
    do { try await group.run() } catch { throw Self.failure(error, at: address) ?? error }
    if let failure = shutdown.failure { throw failure }
  }

  private static let spare = 16

  private static let logger: Logger = {
    var logger = Logger(label: "userserver") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    return logger
  }()

  private func open(path: String) async throws -> (UserStore, name: String, isNew: Bool) {
    let isNew = !FileManager.default.fileExists(atPath: path)
    do {
      let store = try await UserStore.open(path: path, configuration: configuration)
      let folder = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath + "/"
      return (store, folder + path, isNew)
    } catch let error as StoreError {
      throw Failure(error, opening: path)
    }
  }

  /// Opens a database on a server; nothing else is running that could be delayed.
  private func open(url: String) throws(Failure) -> (UserStore, name: String, isNew: Bool) {
    let database = DatabaseAddress(url)
    var configuration = PostgresConfiguration(url, configuration)
    do throws(StoreError) {
      if !options.readOnly {
        configuration.store.access = .readWrite
        do throws(StoreError) { return (try UserStore(postgres: configuration), "\(database)", false) } catch {
          if error.code != .notFound { throw error }
        }
        configuration.store.access = .createIfMissing
      }
      return (try UserStore(postgres: configuration), "\(database)", !options.readOnly)
    } catch {
      throw Failure(error, opening: database)
    }
  }

  /// What answers replicas; nil without `--replicas`.
  ///
  /// Creates tables in a file on the calling thread: as in `open(url:)`, nothing could be delayed.
  private func replicas(of store: UserStore, _ name: String) throws(Failure) -> SyncService? {
    if !options.replicas { return nil }
    do throws(StoreError) { return try SyncService(store) } catch {
      let message = "\(name) cannot be followed by replicas: \(error.message)"
      switch error.code {
      case .readOnly, .noPermission:
        throw Failure(77, message, hint: "start userserver --replicas once without --read-only")
      case .schemaTooOld: throw Failure(65, message, hint: error.hint ?? "ask its owner to run usertool init")
      default: throw Failure(1, message, hint: error.hint)
      }
    }
  }

  /// Adds the index by which the users of a person are found.
  private func addOwnerIndex(to store: UserStore) async {
    do { try await store.addIndex(on: SyncService.Access.owner) } catch {
      StandardError.write("userserver: warning: there is no index of \(SyncService.Access.owner): \(error)")
      StandardError.write("hint: without it, the users of a person are looked for among all")
    }
  }

  private var configuration: UserStore.Configuration {
    var configuration = UserStore.Configuration()
    configuration.access = options.readOnly ? .readOnly : .createIfMissing
    return configuration
  }

  /// The limit of streams, each of which takes a connection; leaves some for other requests.
  private func streamLimit(_ connections: Int) throws(Failure) -> Int {
    let most = connections - connections / 8 - 8
    if most < 1 {
      throw Failure(71, "too few files may be open", hint: "raise the limit with ulimit -n 1024")
    }
    guard let wanted = options.maxStreams else { return min(1_000, most) }
    if wanted > most {
      throw Failure(
        64, "--max-streams \(wanted): this process can have \(most)",
        hint: "raise the limit of open files with ulimit -n")
    }
    return wanted
  }

  /// Wakes the streams after each commit, and ends the server if the database file was replaced: a new process would open the new
  /// file.
  private func listen(to store: UserStore, _ api: API) -> ListenerToken {
    // From zero, so that the first one is an increase.
    for isForeign in [false, true] { Measured.commit(isForeign: isForeign, count: 0) }
    return store.listeners.bind("userserver", to: .everything) { set in
      if set.discontinuity == .replaced { api.onReplaced() }
      if set.discontinuity == nil { Measured.commit(isForeign: set.isForeign) }
      api.bell.ring()
    }
  }

  /// Dispatch, which runs the server's tasks, counts its threads in /proc, and ends the program if it cannot.
  private func warnWithoutProc() {
    #if os(Linux)
      if FileManager.default.fileExists(atPath: "/proc/self/task") { return }
      StandardError.write(
        "userserver: warning: there is no /proc, without which Swift may end the server under load; mount it")
    #endif
  }

  private static func announce(_ keys: AccessKeys) {
    StandardError.write("userserver: accepts \(keys.description)")
    StandardError.write("hint: the server's own token stays for local use: who has it reads and writes everything")
  }

  private func announce(port: Int, token: Token?) {
    let host = options.listen.isEverywhere ? options.host[0] : options.listen.host
    let hasPort = options.listen.isEverywhere && host.contains(":")
    let address = options.listen.isEverywhere ? host + (hasPort ? "" : ":\(port)") : "\(options.listen.name):\(port)"
    for name in options.host where name != host {
      let part = options.noToken ? "" : ", with the same token"
      StandardError.write("hint: behind a reverse proxy, the address is https://\(name)/\(part)")
    }
    let line = "userserver: http://\(address)/" + (token.map { "#token=\($0.text)" } ?? "") + "\n"
    try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
  }

  /// The reason why the server cannot listen on an address; nil for other errors.
  private static func failure(_ error: any Error, at address: ListenAddress) -> Failure? {
    let name = address.defaultValueDescription
    if error is SocketAddressError || error is SocketAddressError.UnknownHost {
      return Failure(69, "there is no host \(address.host)", hint: "--listen needs an address of this machine")
    }
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE: return Failure(69, "\(name) is in use", hint: "choose another port: --listen \(address.name):0")
    case EADDRNOTAVAIL:
      return Failure(
        69, "\(address.host) is not an address of this machine",
        hint: "use 127.0.0.1, or 0.0.0.0 for all its addresses, with --host")
    case EACCES, EPERM:
      return Failure(
        77, "no permission to listen on \(name)",
        hint: "ports below 1024 need root; choose another one: --listen \(address.name):8080")
    case let number?: return Failure(69, "cannot listen on \(name): \(unsafe String(cString: strerror(number)))")
    case nil: return nil
    }
  }
}

private final class ShutdownTrigger: Sendable {
  private let state = Mutex<(failure: Failure?, end: (@Sendable () async -> Void)?)>((nil, nil))

  var failure: Failure? { state.withLock { $0.failure } }

  func onTrigger(_ end: @escaping @Sendable () async -> Void) {
    let isDue = state.withLock { state in
      state.end = end
      return state.failure != nil
    }
    if isDue { Task { await end() } }
  }

  func trigger(because failure: Failure) {
    let end = state.withLock { state in
      if state.failure == nil { state.failure = failure }
      return state.end
    }
    if let end { Task { await end() } }
  }
}

/// Stops rendering answers, and, after 4.5 s, the queries and waits for locks that could outlast the shutdown.
///
/// Answers first, because the store is closed only when nothing reads. The last service in the list is the first to end.
private final class Ending: Service {
  private let memory: Budget
  private let store: UserStore
  private let status: @Sendable () -> Int32

  init(memory: Budget, store: UserStore, status: @escaping @Sendable () -> Int32) {
    (self.memory, self.store, self.status) = (memory, store, status)
  }

  func run() async {
    try? await gracefulShutdown()
    memory.end(with: .shuttingDown)
    Thread.detachNewThread { [self] in
      Thread.sleep(forTimeInterval: 4.5)
      // After a regular close, this interrupts nothing: the -wal file is copied as fast as the disk allows.
      Thread.detachNewThread { [store] in store.interruptAndClose() }
      // The last resort, which is safe: the database undoes a transaction without a commit.
      Thread.sleep(forTimeInterval: 60)
      _exit(status())
    }
  }
}

/// Closes the store after the HTTP server has ended, since services end in the reverse order of the list.
private struct ClosingService: Service {
  let store: UserStore

  func run() async {
    try? await gracefulShutdown()
    await store.close()
  }
}
