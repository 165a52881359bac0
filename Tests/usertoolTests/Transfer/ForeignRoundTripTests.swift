import Foundation
import TestSupport
import Testing

/// Everything that another program can store is exported and imported unchanged, also what usertool itself refuses.
@Suite(.bounded, .serialized) struct `Export and import of foreign values` {
  /// The tables, byte for byte, except that −0.0 is 0.0, as in SQL.
  private func tables(_ database: String, in workspace: Workspace) throws -> String {
    let program = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.text_factory = bytes
      for row in db.execute('SELECT id, name, hair_color FROM users ORDER BY id'): print(row)
      sql = 'SELECT user_id, name, typeof(value), value FROM attributes ORDER BY user_id, name'
      for row in db.execute(sql): print(row if row[2] != b'real' else row[:3] + (row[3] + 0.0,))
      """
    let outcome = try workspace.finish([Child.python, "-c", program, database])
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  /// Stores random users with random values, and prints nothing.
  private static let fill = """
    import random, sqlite3, sys
    random.seed(int(sys.argv[2]))
    db = sqlite3.connect(sys.argv[1])
    parts = [b'a', b'Zo\\xc3\\xab', b'1', b'0', b'.', b'-', b'e', b' ', b'\\t', b'\\n', b'\\r', b'\\x00', b'\\x1b', b'"', b',', b';', b'|',
      b':=', b'{"base64":"AA=="}', b'{"text_base64":"AA=="}', b'\\xff', b'\\xc3', b'\\xe2\\x80', b'\\xed\\xa0\\x80', b'red', b'#FF0000',
      b'#ff0000', b'zebra', b'\\xef\\xbb\\xbf', b'\\xe3\\x80\\x80', b'sep=;', b'true', b'=1+1', b'\\\\', b"'", b'\\xf0\\x9f\\x98\\x80']
    names = ['age', 'Age', ' age', 'age ', 'Name', 'NAME', 'ID', 'Hair Color', 'hair-color', 'HAIR_COLOR', '', ' ', ':=x', ':=', 'a,b',
      'a;name;b', 'q"', 'n\\nn', 'r\\r', 'z\\x00z', 'x' * 300, '\\u00a0', '\\u3000k', '\\ufeff', '{', '1', 'sep=;', '\\U0001f600', 'id ', ' name']
    def text(least=0):
        pieces = [random.choice(parts) for _ in range(random.choice([least, 1, 1, 2, 3, 5]))]
        return b''.join(pieces) if random.random() < 0.95 else b'x' * 1500
    def value():
        kind = random.randrange(5)
        if kind == 0: return ('?', random.choice([0, 1, -1, 2**63 - 1, -2**63, random.getrandbits(62)]))
        if kind == 1: return ('?', random.choice([0.0, -0.0, 1.0, 1e300, float('inf'), -float('inf'), 5e-324, 0.1, random.random()]))
        if kind == 2: return ('?', random.randbytes(random.randrange(4)))
        if kind == 3: return ('?', random.choice(['41', '1.0', '007', '', 'true', '1e5', '1e999', ' 5', '5 ', '-0.0', '\\u00a041', '{"base64":"*"}']))
        return ('CAST(? AS TEXT)', text())
    for id in random.sample(range(-5, 60), 30):
        color = random.choice([None, b'#00ff00', text(), text()])
        db.execute('INSERT INTO users (id, name, hair_color) VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))', (id, text(), color))
        for name in random.sample(names, random.randrange(6)):
            sql, v = value()
            db.execute('INSERT INTO attributes (user_id, name, value) VALUES (?, ?, %s)' % sql, (id, name, v))
    db.commit()
    """

  @Test(arguments: ["jsonl", "csv"])
  func `random values that another program stored come back, whatever they are`(format: String) throws {
    for seed in (0..<5).map({ Seed.base &+ $0 }) {
      let workspace = try Workspace()
      try workspace.run("init")
      let filled = try workspace.finish([Child.python, "-c", Self.fill, workspace.database, "\(seed)"])
      try #require(filled.status == 0, "seed \(seed): \(filled)")
      let file = workspace.folder + "/users." + format
      #expect(try workspace.run("export", file).status == 0)
      let other = workspace.folder + "/other.db"
      let outcome = try workspace.run("--db", other, "import", file, "--keep-ids")
      #expect(outcome.status == 0 && outcome.errors.contains("\nimported 30 users"), "seed \(seed): \(outcome)")
      let expected = try tables(workspace.database, in: workspace)
      #expect(try tables(other, in: workspace) == expected, "seed \(seed)")
      // An update with the same values finds nothing to change, and restores what was changed.
      let same = try workspace.run("--db", other, "import", file, "--update")
      #expect(same.errors.contains("nothing was changed: 30 users (0 added, 0 changed)"), "seed \(seed): \(same)")
      _ = try workspace.finish([
        "sqlite3", other, "UPDATE users SET name = 'x', hair_color = NULL; DELETE FROM attributes",
      ])
      #expect(try workspace.run("--db", other, "import", file, "--update").status == 0)
      #expect(try tables(other, in: workspace) == expected, "seed \(seed)")
    }
  }

  @Test func `an export that could not bring back the name of an attribute fails, and says what to do`() throws {
    for names in [["x'ff'"], ["x'fffe'", "x'ff61'"], ["x'ff'", "x'efbfbd'"]] {
      let workspace = try Workspace()
      try workspace.run("add", "NIX")
      for name in names {
        try workspace.sqlite("INSERT INTO attributes (user_id, name, value) VALUES (1, CAST(\(name) AS TEXT), 7)")
      }
      for format in ["jsonl", "csv"] {
        let outcome = try workspace.run("export", workspace.folder + "/u." + format)
        #expect(outcome.status == 65 && outcome.errors.contains("name is not valid UTF-8"), "\(outcome)")
        #expect(outcome.errors.contains("hint: usertool check lists the users that have it"), "\(outcome)")
        #expect(workspace.bytes(of: "u." + format) == nil)
      }
    }
    // The character by which such bytes are shown is one that a name can have.
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "\u{FFFD}=7")
    #expect(try workspace.run("export").output == "{\"id\":1,\"name\":\"NIX\",\"hair_color\":null,\"\u{FFFD}\":7}\n")
  }

  @Test func `names and colors without a mark are still checked, and a mark has the same form in both formats`() throws
  {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite("INSERT INTO users (id, name, hair_color) VALUES (1, '', 'zebra')")
    try workspace.sqlite(
      "INSERT INTO attributes (user_id, name, value) VALUES (1, 'hair-color', ' x'), (1, 'Name', '7')")
    #expect(
      try workspace.run("export").output
        == #"{"id":1,"name":{"text_base64":""},"hair_color":{"text_base64":"emVicmE="},"Name":"7",":=hair-color":" x"}"#
        + "\n")
    #expect(
      try workspace.run("export", "--format", "csv").output
        == "id,name,hair_color,:=Name,:=hair-color\n1,:=,:=zebra,:=7, x\n")
    for (name, text) in [
      ("a.jsonl", #"{"name":""}"#), ("b.jsonl", #"{"name":"A","hair_color":"zebra"}"#), ("c.csv", "name\n\"a\nb\"\n"),
      ("d.csv", "name,hair_color\nA,zebra\n"),
    ] {
      try workspace.write(Data(text.utf8), to: name)
      #expect(try workspace.run("import", workspace.folder + "/" + name).status == 65, "\(name)")
    }
  }
}
