import Foundation
import Testing
import UserStore

@testable import UserStorePostgres

extension AllTests {
  /// Figures, no tests.
  ///
  /// Run them with `USERSTORE_FIGURES=1 scripts/postgres run swift test --filter SpeedTests`.
  @Suite(.enabled(if: !Server.environment("USERSTORE_FIGURES").isEmpty))
  struct SpeedTests {
    @Test func `writes and queries`() throws {
      let store = try UserStore(postgres: PostgresConfiguration(Server.address(try Server.newDatabase())))
      defer { store.close() }
      let users = try store.write { transaction in
        try (0..<1_000).map { number in
          let attributes = (0..<5).map { (attribute: AttributeName("a\($0)"), value: StoredValue.integer(Int64($0))) }
          return try transaction.add([(.name, .text("user \(number)"))] + attributes)
        }
      }
      let clock = ContinuousClock()
      for _ in 0..<3 {
        var count = 0
        let end = clock.now + .seconds(3)
        while clock.now < end {
          try store.write { try $0.set("a0", of: users[count % 8], to: .integer(.random(in: 0 ... .max))) }
          count += 1
        }
        print("one writer: \(count / 3) writes a second")
        let works = (0..<8).map { writer in
          Work {
            var count = 0
            let end = ContinuousClock.now + .seconds(3)
            while ContinuousClock.now < end {
              try store.write {
                try $0.set(AttributeName("a0"), of: users[writer], to: .integer(.random(in: 0 ... .max)))
              }
              count += 1
            }
            return count
          }
        }
        print("eight writers: \(try works.map { try $0.join() }.reduce(0, +) / 3) writes a second")
        let query = UserStore.Query(where: .exists(AttributeName("a1")))
        var found = 0
        let time = try clock.measure { found = try store.read { try $0.users(matching: query).count } }
        #expect(found == 1_000)
        print("1,000 users with all attributes: \(time)")
      }
    }
  }
}
