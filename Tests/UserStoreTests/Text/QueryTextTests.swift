import TestSupport
import Testing
import UserStoreText

@testable import UserStore

/// Queries as text, in the notation of requests.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct QueryTextTests {
  private let store: UserStore

  init() throws {
    store = try UserStore.forTests()
    try store.write { users in
      for number in 0..<25 {
        let id = try users.add(name: "N\(number)", hairColor: number.isMultiple(of: 2) ? Color("auburn") : nil)
        if number % 5 > 0 { try users.set("age", of: id, to: .integer(Int64(number % 7))) }
      }
    }
  }

  private func text(_ change: (inout QueryText) -> Void) -> QueryText {
    var text = QueryText()
    change(&text)
    return text
  }

  private func mistake(_ notation: QueryNotation = .parameters, _ change: (inout QueryText) -> Void) throws -> TextError
  {
    try #require(throws: TextError.self) { _ = try text(change).query(notation) }
  }

  // MARK: Reading

  @Test func `a text without anything selects all users`() throws {
    #expect(try QueryText().query() == Query())
  }

  @Test func `each part of a text is a part of the query`() throws {
    let text = text {
      $0.conditions = ["age>=18", "name^=Z", "room:=007", "hair-color=Auburn", "id!=3"]
      $0.present = ["age", "hair-color"]
      $0.absent = ["phone"]
      $0.order = ["age:desc", "name", "x:asc"]
      $0.limit = 20
      $0.place = #"{"age:desc":41,"name:asc":"Zo\u00eb","x:asc":null,"id":7}"#
    }
    let conditions: [Condition] = [
      Condition("age", .greaterOrEqual, .integer(18)), Condition("name", .startsWith, .text("Z")),
      Condition("room", .equal, .text("007")), Condition("hair_color", .equal, .text("#a52a2a")),
      Condition("id", .notEqual, .integer(3)), .exists("age"), .exists("hair_color"), !.exists("phone"),
    ]
    let order = [
      SortKey("age", descending: true), SortKey("name", missingLast: true), SortKey("x", missingLast: true),
    ]
    let query = Query(where: conditions.reduce(.always) { $0 && $1 }, sortedBy: order, limit: 20)
      .after(Query.Position(values: [.integer(41), .text("Zoë"), .null], id: User.ID(7)))
    #expect(try text.query() == query)
    #expect(try text.query(.options) == query)
  }

  // MARK: Mistakes

  @Test(arguments: [
    ("age<>18", "there is no operator <>", "<>", #"did you mean "where=age!=18"?"#),
    (
      "age=>18", "there is no operator =>", "=>",
      #"did you mean "where=age>=18"? (text that starts with > needs a colon: "where=age:=>18")"#
    ),
    ("age >= 18", "the spaces would belong to the attribute", " >= ", #"did you mean "where=age>=18"?"#),
    ("age≥18", "there is no operator ≥", "≥", #"did you mean "where=age>=18"?"#),
    ("age ≥ 18", "there is no operator ≥", "≥", #"did you mean "where=age>=18"?"#),
    ("age << 18", "there is no operator <<", "<<", #"did you mean "where=age<18"?"#),
    ("O'Hara<>x", "there is no operator <>", "<>", #"did you mean "where=O'Hara!=x"?"#),
    ("age>:=3", "there is no operator >:=", ">:=", #"for text, the colon is before the operator: "where=age:>3""#),
    (
      "age>=18 and age<30", "a condition has one comparison", "and",
      #"use where twice: "where=age>=18" "where=age<30"; a colon makes the value text: "where=age:>=18 and age<30""#
    ),
    ("18<age<30", "a condition has one comparison", "<", #"use where twice: "where=age>18" "where=age<30""#),
    (
      "age<18<30", "a condition has one comparison", "<",
      #"use where twice, once for each comparison; a colon makes the value text: "where=age:<18<30""#
    ),
    ("=18", "there is no attribute before the operator", "=", list),
    (
      "age", "the operator is missing", "",
      list + #", as in "where=age>=18"; "with=age" finds users that have the attribute"#
    ),
    ("", "the operator is missing", "", list + #", as in "where=age>=18""#),
    (
      "age>=", "the value is missing", "",
      #"as in "where=age>=18"; a colon makes the value text: "where=age:>=""#
    ),
    (
      "age<(18)", "the quotes and parentheses would belong to the value", "(18)",
      #"did you mean "where=age<18"? (a colon makes the value text: "where=age:<(18)")"#
    ),
    (
      "age>'Zoë'", "the quotes and parentheses would belong to the value", "'Zoë'",
      #"did you mean "where=age>Zoë"? (a colon makes the value text: "where=age:>'Zoë'")"#
    ),
  ])
  func `a condition with a mistake is pointed at, and the hint is written as a parameter`(
    condition: String, message: String, part: String, hint: String
  ) throws {
    let error = try mistake { $0.conditions = ["id>0", condition] }
    #expect(error.message == message && error.hint == hint, "\(error.hint ?? "")")
    #expect(error.kind == .notation && error.parameter == "where" && error.text == condition)
    #expect(error.part == part)
    #expect(error.description == "where: " + message)
  }

  private static let list =
    "the operators are = != < <= > >= ^= (starts with) *= (contains) and ~= (contains, in any case)"

  @Test(arguments: [
    (
      "hair_color=aubrun", "\"aubrun\" is not a color (did you mean \"auburn\"?)", "aubrun",
      "a color is #rrggbb, or one of:"
    ),
    ("hair_color=", "\"\" is not a color", "", #""without=hair_color" finds users without a color"#),
    (
      "age<99999999999999999999", "99999999999999999999 does not fit into 64 bits", "99999999999999999999",
      "99999999999999999999.0 is a real"
    ),
    (
      "age<1e400", "1e400 is too large for a real number", "1e400", "k:=TEXT compares with any text"
    ),
    (
      #"p={"base64":"!"}"#, #"this is not base64: {"base64":"!"}"#, #"{"base64":"!"}"#, "k:=TEXT compares with any text"
    ),
  ])
  func `a value that is not one is pointed at`(condition: String, message: String, part: String, hint: String) throws {
    let error = try mistake { $0.conditions = [condition] }
    #expect(
      error.kind == .value && error.message == message && error.hint?.hasPrefix(hint) == true, "\(error.hint ?? "")")
    #expect(error.parameter == "where" && error.text == condition && error.part == part)
  }

  @Test(arguments: [
    (["age:down"], "the directions are asc and desc", "down", #"did you mean "sort=age:desc"?"#),
    (["name", ""], "the attribute is missing", "", #""sort=age", "sort=age:desc""#),
    ([":desc"], "the attribute is missing", ":", #""sort=age", "sort=age:desc""#),
    (["age", "name", "age:desc"], "\"age\" is given twice", nil, nil),
    (["hair-color", "hair_color"], "\"hair_color\" is given twice", nil, nil),
  ])
  func `a sort key with a mistake is pointed at`(
    order: [String], message: String, part: String?, hint: String?
  ) throws {
    let error = try mistake { $0.order = order }
    #expect(error.kind == .notation && error.message == message && error.hint == hint, "\(error.hint ?? "")")
    #expect(error.parameter == "sort" && error.text == order.last && error.part == part)
  }

  @Test func `an empty attribute is a mistake`() throws {
    let present = try mistake { $0.present = ["age", ""] }
    #expect(present.description == "with: the attribute is missing" && present.hint == #""with=age""#)
    let absent = try mistake { $0.absent = [""] }
    #expect(absent.description == "without: the attribute is missing" && absent.hint == #""without=age""#)
    #expect(present.part == "" && absent.part == "")
  }

  @Test func `a place that belongs to another list is a mistake`() throws {
    let wrong = try mistake { ($0.order, $0.place) = (["age"], "5x") }
    #expect(wrong.kind == .value && wrong.parameter == "after" && wrong.text == "5x" && wrong.range == nil)
    #expect(wrong.message == "this is not the end of a page: 5x")
    #expect(wrong.hint == "pass it exactly as the page before has it")
    let other = try mistake { ($0.order, $0.place) = (["age"], #"{"age:desc":41,"name:asc":"x","id":7}"#) }
    #expect(other.kind == .notation && other.message == "this is the end of a page in another order")
    #expect(other.hint == #"pass "sort=age:desc" "sort=name:asc" too"#)
    #expect(try mistake { ($0.order, $0.place) = (["age"], "7") }.hint == "leave out sort")
  }

  @Test func `the notation changes only the hints`() throws {
    for (condition, hint) in [
      ("age<>18", "did you mean --where 'age!=18'?"),
      ("hair_color=", "--without hair_color finds users without a color"),
    ] {
      let (options, parameters) = (
        try mistake(.options) { $0.conditions = [condition] }, try mistake { $0.conditions = [condition] }
      )
      #expect(options.hint == hint && parameters.hint != hint)
      #expect(options.message == parameters.message && options.range == parameters.range)
    }
  }

  /// Random texts, most of which have a mistake.
  @Test func `every text is a query, or a mistake with a range in the text`() throws {
    var random = SplitMix64(seed: Seed.base)
    let signs = [
      "age", "name", "18", "=", "<", ">", "!", ":", "^", "*", "~", " ", ",", "and", "or", "&&", "-", "\u{301}", "日",
      "≥",
      "{\"base64\":\"", "\"}", "'", "\"", "hair_color", "desc", "\u{202E}", "\n", "id",
    ]
    func word() -> String {
      (0..<Int.random(in: 0...6, using: &random)).map { _ in signs.randomElement(using: &random)! }.joined()
    }
    for _ in 0..<3_000 {
      var text = QueryText()
      switch Int.random(in: 0..<4, using: &random) {
      case 0: text.order = [word(), word()]
      case 1: text.place = word()
      default: text.conditions = [word()]
      }
      for notation in [QueryNotation.options, .parameters] {
        do {
          let query = try text.query(notation)
          _ = try? store.read { try $0.users(matching: query) }
          try store.read { try text.check(notation, in: &$0) }
        } catch let error as TextError {
          guard let range = error.range else { continue }
          let count = try #require(error.text).unicodeScalars.count
          #expect(range.upperBound <= count, "\(error) in \(text)")
        }
      }
    }
  }

  // MARK: Attributes that look like mistakes

  @Test(arguments: [
    ("age!>18", "there is no operator !>", "!>", #"did you mean "where=age<=18"?"#),
    ("18<=age", "the attribute goes on the left", "18", #"did you mean "where=age>=18"?"#),
    (
      "'age'=18", "an attribute has no quotes or parentheses around it", "'",
      #"did you mean "where=age=18"?"#
    ),
    ("(age=18)", "an attribute has no quotes or parentheses around it", "(", #"did you mean "where=age=18"?"#),
  ])
  func `a condition on an attribute that looks like a mistake is one if no user has it`(
    condition: String, message: String, part: String, hint: String
  ) throws {
    let text = text { $0.conditions = [condition] }
    _ = try text.query()
    let error = try #require(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    #expect(error.description == "where: " + message && error.hint == hint && error.part == part)
    try store.write {
      _ = try $0.set(["age!", "18", "'age'", "(age"].map { (AttributeName($0), .text("x")) }, of: User.ID(1))
    }
    try store.read { try text.check(.parameters, in: &$0) }
  }

  @Test func `a value in quotes is a mistake in a request if no user has it`() throws {
    let text = text { $0.conditions = ["name=\"N3\""] }
    let error = try #require(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    #expect(error.description == "where: the quotes would belong to the value, which no user has")
    #expect(error.part == "\"N3\"")
    #expect(
      error.hint == #"did you mean "where=name=N3"? (a colon makes the value text: "where=name:="N3"")"#,
      "\(error.hint ?? "")")
    // usertool prints a note instead.
    try store.read { try text.check(.options, in: &$0) }
    let asText = self.text { $0.conditions = ["name:=\"N3\""] }
    try store.read { try asText.check(.parameters, in: &$0) }
    try store.write { _ = try $0.rename(User.ID(1), to: "\"N3\"") }
    try store.read { try text.check(.parameters, in: &$0) }
  }

  @Test(arguments: [
    ("-a", "a:desc"), ("+a", "a"), ("a desc", "a:desc"), ("-age", "age:desc"),
  ])
  func `an order in another notation is a mistake if no user has the attribute`(order: String, meant: String) throws {
    let text = text { $0.order = [order] }
    let error = try #require(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    #expect(error.hint == "did you mean \"sort=\(meant)\"?", "\(error)")
  }

  @Test func `a direction that is nearly one is a mistake if no user has the attribute`() throws {
    let text = text { $0.order = ["age:descc"] }
    let error = try #require(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    #expect(error.description == "sort: the directions are asc and desc, and no user has \"age:descc\"")
    #expect(error.part == "descc" && error.hint == #"did you mean "sort=age:desc"?"#)
    try store.write { try $0.set("age:descc", of: User.ID(1), to: .integer(1)) }
    try store.read { try text.check(.parameters, in: &$0) }
  }

  @Test func `a sort key that looks like a list is a mistake if no user has it`() throws {
    let text = text { $0.order = ["age,name:desc"] }
    let error = try #require(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    #expect(error.description == "sort: no user has \"age,name\"" && error.part == "age,name:desc")
    #expect(error.hint == #"did you mean "sort=age" "sort=name:desc"?"#)
    try store.write { try $0.set("age,name", of: User.ID(1), to: .integer(1)) }
    try store.read { try text.check(.parameters, in: &$0) }
  }

  @Test func `a check throws the mistakes of reading too`() throws {
    let text = text { $0.conditions = ["age=>1"] }
    #expect(throws: TextError.self) { try store.read { try text.check(.parameters, in: &$0) } }
    try store.read { try QueryText().check(.parameters, in: &$0) }
  }

  // MARK: Pages

  @Test(arguments: [[], ["age"], ["age:desc", "name"], ["hair_color", "age:desc"], ["id:desc"]])
  func `the places lead from page to page, through all users once`(order: [String]) throws {
    var text = text { ($0.order, $0.limit) = (order, 4) }
    let all = try store.read { try $0.ids(matching: self.text { $0.order = order }.query()) }
    var seen: [User.ID] = []
    while true {
      let query = try text.query()
      let users = try store.read { try $0.users(matching: query) }
      seen += users.map(\.id)
      guard let last = users.last else { break }
      let place = try #require(QueryText.place(after: last, in: query))
      text.place = place
    }
    #expect(seen == all && all.count == 25)
  }

  @Test func `a place holds although its user has changed`() throws {
    let text = text { ($0.order, $0.limit) = (["name"], 3) }
    let query = try text.query()
    let users = try store.read { try $0.users(matching: query) }
    var next = text
    next.place = QueryText.place(after: users[2], in: query)
    let expected = try store.read { try $0.ids(matching: try next.query()) }
    try store.write { try $0.rename(users[2].id, to: "ZZ") }
    #expect(try store.read { try $0.ids(matching: try next.query()) } == expected)
    #expect(next.place == #"{"name:asc":"N10","id":11}"#)
  }

  @Test func `values that are too long have no place`() throws {
    let query = try text { $0.order = ["note"] }.query()
    func place(_ length: Int) -> String? {
      let note = StoredValue.text(String(repeating: "x", count: length))
      return QueryText.place(after: User(id: User.ID(1), storedValues: ["note": note]), in: query)
    }
    #expect(place(99_900) != nil && place(100_000) == nil)
  }
}

extension TextError {
  /// The part of the text that the range points at.
  fileprivate var part: String? {
    guard let text, let range else { return nil }
    return String(String.UnicodeScalarView(text.unicodeScalars.dropFirst(range.lowerBound).prefix(range.count)))
  }
}
