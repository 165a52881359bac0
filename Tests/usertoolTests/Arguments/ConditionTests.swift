import Testing
import UserStore
import UserStoreText

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Conditions on the command line` {
  private func condition(_ text: String) throws -> Condition {
    try ConditionText(text, .options).parsed().condition
  }

  private func mistake(_ text: String) throws -> Failure {
    Failure(try #require(throws: TextError.self) { _ = try ConditionText(text, .options).parsed().condition })
  }

  @Test(
    arguments: [
      ("age=18", "age", .equal, .integer(18)), ("age!=18", "age", .notEqual, .integer(18)),
      ("age<18", "age", .less, .integer(18)), ("age<=18", "age", .lessOrEqual, .integer(18)),
      ("age>18.5", "age", .greater, .real(18.5)), ("age>=-1", "age", .greaterOrEqual, .integer(-1)),
      ("name^=Z", "name", .startsWith, .text("Z")), ("note*=7", "note", .contains, .text("7")),
      ("name~=zO", "name", .containsIgnoringCase, .text("zO")),
      ("name>=7", "name", .greaterOrEqual, .text("7")), ("room:=007", "room", .equal, .text("007")),
      ("room:>=7", "room", .greaterOrEqual, .text("7")), ("age=", "age", .equal, .text("")),
      ("hair-color=Auburn", "hair_color", .equal, .text("#a52a2a")), ("id>2", "id", .greater, .integer(2)),
      ("ok=true", "ok", .equal, .integer(1)), ("a=b=c", "a", .equal, .text("b=c")),
      ("a!b=c", "a!b", .equal, .text("c")),
      ("note=a>b", "note", .equal, .text("a>b")), ("note:==x", "note", .equal, .text("=x")),
      ("note:=>x", "note", .equal, .text(">x")), ("note= x", "note", .equal, .text(" x")),
      ("first name=Zoë", "first name", .equal, .text("Zoë")), ("x=\u{301}", "x", .equal, .text("\u{301}")),
      ("p={\"base64\":\"AP8=\"}", "p", .equal, .blob([0, 255])), ("urn:x:y<=1", "urn:x:y", .lessOrEqual, .integer(1)),
    ] as [(String, AttributeName, Condition.Comparison, StoredValue)])
  func `the first operator counts, and the value is read as in set`(
    text: String, attribute: AttributeName, comparison: Condition.Comparison, value: StoredValue
  ) throws {
    #expect(try condition(text) == Condition(attribute, comparison, value))
  }

  @Test(arguments: [
    ("age=>18", "   ^^", "'age>=18'"), ("age==18", "   ^^", "'age=18'"), ("age<>18", "   ^^", "'age!=18'"),
    ("age=<18", "   ^^", "'age<=18'"), ("age!==18", "   ^^^", "'age!=18'"), ("age>>18", "   ^^", "'age>18'"),
    ("age≥18", "   ^", "'age>=18'"), ("age≠18", "   ^", "'age!=18'"), ("name~Z", "    ^", "'name~=Z'"),
    ("日本<>5", "    ^^", "'日本!=5'"), ("age 18", "   ^", "'age=18'"), ("age >= 18", "   ^^^^", "'age>=18'"),
    ("age>= 18", "   ^^^", "'age>=18'"), ("O'Hara==1", "      ^^", "'O'\\''Hara=1'"),
    ("age ≥ 18", "    ^", "'age>=18'"), ("age == 18", "    ^^", "'age=18'"),
    ("name ~ Zoe Q", "     ^", "'name~=Zoe Q'"),
  ])
  func `a mistake is pointed at, and the hint corrects it`(text: String, carets: String, meant: String) throws {
    let failure = try mistake(text)
    #expect(failure.status == .usage && failure.details == [text, carets], "\(failure)")
    #expect(failure.hint?.contains("did you mean --where \(meant)?") ?? false, "\(failure)")
  }

  @Test(arguments: [
    ("age>=18 and age<30", "        ^^^", "'age>=18' --where 'age<30'"),
    ("age>=18 AND age<30", "        ^^^", "'age>=18' --where 'age<30'"),
    ("age>=18,age<30", "           ^", "'age>=18' --where 'age<30'"),
    ("age>=18 && city=Ulm", "        ^^", "'age>=18' --where 'city=Ulm'"),
    ("18<age<30", "      ^", "'age>18' --where 'age<30'"),
    ("18<=age<=30", "       ^^", "'age>=18' --where 'age<=30'"),
    ("age>1;age<5 and city=x", "         ^", "'age>1' --where 'age<5' --where 'city=x'"),
  ])
  func `several comparisons are pointed at, and the hint separates them`(text: String, carets: String, meant: String)
    throws
  {
    let failure = try mistake(text)
    #expect(failure.status == .usage && failure.details == [text, carets], "\(failure)")
    #expect(failure.hint?.contains(": --where \(meant)") ?? false, "\(failure)")
  }

  @Test func `several comparisons without a likely separation are a mistake too`() throws {
    for text in ["age<18<30", "age>=18 city=Ulm", "name>=a and b"] {
      #expect(try mistake(text).hint?.hasPrefix("use --where twice, once for each comparison; a colon") ?? false)
    }
    for text in ["age<18 or age>60", "age<18 || age>60"] {
      #expect(try mistake(text).hint?.hasPrefix("a user must meet all conditions") ?? false)
    }
    let failure = try mistake("age>:=3")
    #expect(failure.details == ["age>:=3", "   ^^^"] && failure.hint?.hasSuffix("'age:>3'") ?? false, "\(failure)")
    // A colon makes any value text, and data and names may contain the words.
    for text in ["note:>=a=b", "note:<x and y", "p>={\"base64\":\"AA==\"}", "note>=sandor", "note=a and b>c"] {
      _ = try condition(text)
    }
  }

  @Test(arguments: [
    ("age!>18", "   ^^", "'age<=18'"), ("!name=Ann", "^", "'name!=Ann'"), ("18<=age", "^^", "'age>=18'"),
    ("Ann=18", nil, nil), ("18=age", "^^", "'age=18'"), ("name!~=Z", "    ^^^", nil),
    ("name!^=Z", "    ^^^", nil), ("name$=n", "    ^^", nil), ("a!b=c", nil, nil), ("name!:=x", nil, nil),
    ("18=19", nil, nil),
  ])
  func `an attribute that looks like a mistake is one if no user has it`(text: String, carets: String?, meant: String?)
    throws
  {
    let failure = try ConditionText(text, .options).parsed().suspect.map { Failure($0.mistake) }
    #expect(failure?.details == carets.map { [text, $0] }, "\(text)")
    guard carets != nil else { return }
    let hint = meant.map { "did you mean --where \($0)?" } ?? ConditionText.operatorList
    #expect(failure?.hint == hint, "\(text)")
  }

  @Test(arguments: [
    ("age,name", "age --sort name"), ("age desc", "age:desc"), ("age DESC, name", "age:desc --sort name"),
    ("-age", "age:desc"), ("+age", "age"), ("age,name:desc", "age --sort name:desc"),
    ("age", nil), ("age:desc", nil), ("first name", nil), ("urn:x", nil),
  ])
  func `a sort key that looks like several, or has a sign, is a mistake if no user has it`(text: String, meant: String?)
    throws
  {
    let hint = SortText(text, .options).suspect?.mistake.hint
    #expect(hint == meant.map { "did you mean --sort \($0)?" })
  }

  @Test(arguments: [
    ("age", "   ^"), ("", "^"), ("=18", "^"), ("age is 18", "         ^"), ("age>=<18", "   ^^^"),
  ])
  func `without a likely correction, the hint lists the operators`(text: String, carets: String) throws {
    let failure = try mistake(text)
    #expect(failure.status == .usage && failure.details == [text, carets], "\(failure)")
    #expect(failure.hint?.contains(" *= (contains) and ~= (contains, in any case)") ?? false, "\(failure)")
  }

  @Test func `a hostile argument is escaped, and the carets are below the mistake`() throws {
    let failure = try mistake("\u{1B}[31m\u{202E}==1")
    #expect(failure.details[0] == #"\u{1B}[31m\u{202E}==1"#)
    #expect(failure.details[1] == String(repeating: " ", count: 18) + "^^")
  }

  @Test func `a value that is not one is bad data`() throws {
    for text in ["hair_color=aubrun", "hair_color>=5", "hair_color=", "age=99999999999999999999"] {
      #expect(try mistake(text).status == .badData)
    }
    #expect(try mistake("hair_color=").hint?.contains("--without hair_color") ?? false)
    #expect(try mistake("age<99999999999999999999").hint?.contains("99999999999999999999.0") ?? false)
  }

  @Test func `a comparison that no user can meet is noted if that is certain`() throws {
    for (text, isCertain) in [
      ("id^=1", true), ("id=x", true), ("id!=x", false), ("id>=5", false), ("age=x", false),
    ] {
      let condition = try ConditionText(text, .options).parsed()
      #expect((condition.contradiction != nil) == isCertain, "\(text)")
    }
  }

  @Test func `a sort key has a direction, and only the last one counts`() throws {
    func key(_ text: String) throws -> SortKey { try SortText(text, .options).key() }
    #expect(try key("age") == SortKey("age", missingLast: true))
    #expect(try key("age:asc") == SortKey("age", missingLast: true))
    #expect(try key("age:desc") == SortKey("age", descending: true))
    #expect(try key("x:desc:asc") == SortKey("x:desc", missingLast: true))
    #expect(try key("urn:x") == SortKey("urn:x", missingLast: true))
    #expect(try key("hair-color:desc") == SortKey(.hairColor, descending: true))
    let failure = Failure(try #require(throws: TextError.self) { _ = try key("age:DESC") })
    #expect(
      failure.details == ["age:DESC", "    ^^^^"] && failure.hint == "did you mean --sort age:desc?", "\(failure)")
    #expect(throws: TextError.self) { try key(":desc") }
  }
}
