import UserStore

/// Looks for damage: the function `userstore.check`, which runs on the server, with its findings as those of the library.
enum PostgresCheck {
  private static let statement = PostgresStatement(
    once: "check the database", #"SELECT severity, code, message, "user", attribute FROM userstore.check(true)"#)

  /// Returns what is damaged; throws only if the check itself fails.
  static func findings(_ connection: PostgresConnection) throws(StoreError) -> [Finding] {
    do throws(PostgresError) {
      let rows = try connection.run(statement)
      var findings: [Finding] = []
      for index in 0..<rows.count { findings.append(try finding(rows[index])) }
      return findings
    } catch { throw StoreError(error) }
  }

  private static func finding(_ row: PostgresRow) throws(PostgresError) -> Finding {
    Finding(
      severity: Finding.Severity(rawValue: try row.text(0)) ?? .problem,
      kind: Finding.Kind(rawValue: try row.text(1)) ?? .schema, message: try row.text(2),
      user: try row.int8OrNil(3).map { User.ID($0) }, attribute: try row.textOrNil(4).map { AttributeName($0) })
  }
}
