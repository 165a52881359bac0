import TestSupport
import Testing

@Suite(.bounded) struct `Creating a database` {
  @Test func `six processes that create the same database at once all succeed`() throws {
    for _ in 0..<10 {
      let workspace = try Workspace()
      let children = try (0..<6).map { try workspace.start("add", "user \($0)") }
      for child in children {
        let errors = child.errors.rest()
        #expect(child.wait() == 0, "\(String(decoding: errors, as: UTF8.self))")
      }
      #expect(try workspace.run("list").lines.count == 6)
      #expect(try workspace.sqlite("PRAGMA integrity_check; SELECT count(*) > 0 FROM migrations").lines == ["ok", "1"])
    }
  }
}
