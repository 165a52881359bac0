import Foundation
import UserStore

/// A whole process, for which a script that calls `usertool` waits.
enum WholeProcess {
  static func cases(_ effort: Effort) -> [Case] {
    guard let usertool = Program.path("USERTOOL") else { return [] }
    return [
      Case(
        name: "process/rename", operation: "one rename in its own process, full",
        contenders: [renaming(usertool), sql, nothing])
    ]
  }

  private static func renaming(_ usertool: String) -> Contender {
    Contender(name: "usertool rename") { folder in
      let path = try Fixture.file(in: folder, users: 1_000, isLogged: true)
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try Program.run(usertool, "--db", path, "rename", "1", names.next()) }
      }
    }
  }

  private static let sql = Contender(name: "sqlite3 UPDATE, the same file with its triggers") { folder in
    let path = try Fixture.file(in: folder, users: 1_000, isLogged: true)
    var names = Names()
    return .passes { count in
      for _ in 0..<count {
        try Program.run("sqlite3", path, "UPDATE users SET name = '\(names.next())' WHERE id = 1")
      }
    }
  }

  private static let nothing = Contender(name: "true, a process that does nothing") { _ in
    .passes { count in for _ in 0..<count { try Program.run("true") } }
  }
}
