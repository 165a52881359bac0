import Dispatch
import Foundation
import GRDB

/// GRDB as its documentation recommends: a pool, cached statements, records, and observations of single rows.
final class GRDBStore: @unchecked Sendable {
  struct Row: Codable, Equatable, FetchableRecord, TableRecord, Sendable {
    static let databaseTableName = "users"
    let id: Int64
    let name: String
    let hairColor: String?

    enum CodingKeys: String, CodingKey {
      case id, name
      case hairColor = "hair_color"
    }
  }

  let pool: DatabasePool
  private let queue = DispatchQueue(label: "observations")
  private var observations: [AnyDatabaseCancellable] = []

  init(_ path: String, isFull: Bool) throws {
    var configuration = GRDB.Configuration()
    // The default fails at once, which happened once in some hours of measurements.
    configuration.busyMode = .timeout(10)
    pool = try DatabasePool(path: path, configuration: configuration)
    // After opening, because a pool sets NORMAL when it opens.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")") }
  }

  func close() throws { try pool.close() }

  // MARK: Writing

  static func rename(_ id: Int64, to name: String, _ database: Database) throws {
    try database.cachedStatement(sql: "UPDATE users SET name = ? WHERE id = ?").execute(arguments: [name, id])
  }

  func rename(_ users: Range<Int64>, to name: String) throws {
    try pool.write { database in for id in users { try Self.rename(id, to: name, database) } }
  }

  func setColor(_ id: Int64, to color: String?) throws {
    try pool.write { database in
      try database.cachedStatement(sql: "UPDATE users SET hair_color = ? WHERE id = ?").execute(arguments: [color, id])
    }
  }

  func renameLater(_ id: Int64, to name: String) async throws {
    try await pool.write { try Self.rename(id, to: name, $0) }
  }

  /// Takes the time at the end of the closure, as the other contenders do.
  func renameToStamp(_ id: Int64) throws {
    try pool.write { try Self.rename(id, to: Stamp.now(), $0) }
  }

  // MARK: Reading

  func row(_ id: Int64) throws -> Row? { try pool.read { try Row.fetchOne($0, key: id) } }

  /// The request of `ListRequest`.
  private static var listRequest: QueryInterfaceRequest<Row> {
    Row.filter(Column("hair_color") != nil).order(Column("name"), Column("id"))
  }

  func listRows() throws -> [Row] { try pool.read { try Self.listRequest.fetchAll($0) } }

  func rows() throws -> [Row] { try pool.read { try Row.order(Column("id")).fetchAll($0) } }

  // MARK: Observing

  /// Observes each row, and returns when all observations have delivered their first value.
  func observe(_ users: some Collection<Int64>, _ onChange: @escaping @Sendable (Row?) -> Void) throws {
    for id in users {
      start(.trackingConstantRegion { try Row.filter(key: id).fetchOne($0) }, onChange)
    }
  }

  /// Observes the rows of `ListRequest`, and returns when the first ones have been delivered.
  func observeList(removesDuplicates: Bool, _ onChange: @escaping @Sendable ([Row]) -> Void) throws {
    let observation = ValueObservation.trackingConstantRegion { try Self.listRequest.fetchAll($0) }
    if removesDuplicates { start(observation.removeDuplicates(), onChange) } else { start(observation, onChange) }
  }

  private func start<Reducer: ValueReducer>(
    _ observation: ValueObservation<Reducer>, _ onChange: @escaping @Sendable (Reducer.Value) -> Void
  ) where Reducer.Value: Sendable {
    let ready = DispatchSemaphore(value: 0)
    let first = First()
    let token = observation.start(in: pool, scheduling: .async(onQueue: queue)) { error in
      print("grdb: \(error)")
    } onChange: { value in
      if first.passes() { ready.signal() } else { onChange(value) }
    }
    observations.append(token)
    ready.wait()
  }

  /// Waits until no observation reads.
  func finishReading() throws { try pool.barrierWriteWithoutTransaction { _ in } }

  /// Used on one queue only.
  private final class First: @unchecked Sendable {
    private var isOver = false

    func passes() -> Bool {
      defer { isOver = true }
      return !isOver
    }
  }
}
