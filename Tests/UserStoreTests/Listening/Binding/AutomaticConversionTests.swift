import Testing

@testable import UserStore

/// Row D6 of the article “What it grew from”: text ↔ integer, float, bool.
@Suite(.bounded, .serialized) struct AutomaticConversionTests {
  private func become<Target: Equatable>(_ value: Any, _ target: Target) -> Bool {
    (try? AutomaticConversion.convert(value, to: Target.self)) == target
  }

  private func cannot<Target>(_ value: Any, become type: Target.Type) -> Bool {
    (try? AutomaticConversion.convert(value, to: type)) == nil
  }

  @Test func `D6, numbers and bools become text, and text becomes them`() {
    #expect(become(7, "7") && become(Int8(-7), "-7") && become(UInt64.max, "18446744073709551615"))
    #expect(become(0.5, "0.5") && become(Float(1), "1.0") && become(true, "true"))
    #expect(become("7", 7) && become("-128", Int8.min) && become("255", UInt8.max))
    #expect(become("0.5", 0.5) && become("1e3", Float(1_000)) && become("true", true) && become("0", false))
  }

  @Test(arguments: ["", " ", "x", "1x", "1,5", "nan", "inf", "1e999", "128", "-129"])
  func `D6, text that is not a number of the type is not converted`(_ text: String) {
    #expect(cannot(text, become: Int8.self) && cannot(text, become: Bool.self))
    if Double(text).map(\.isFinite) != true { #expect(cannot(text, become: Double.self)) }
  }

  @Test func `numbers are converted exactly, or not at all, and only floats are rounded to floats`() {
    #expect(become(3.0, 3) && cannot(3.5, become: Int.self) && cannot(Double.nan, become: Int.self))
    #expect(cannot(300, become: UInt8.self) && cannot(-1, become: UInt.self))
    #expect(become(3, 3.0) && cannot(Int64.max, become: Double.self))
    #expect(become(0.1, Float(0.1)) && cannot(1e300, become: Float.self))
    #expect(become(1, true) && become(false, 0) && cannot(2, become: Bool.self) && cannot(0.0, become: Bool.self))
  }

  @Test func `nil converts to nil or to empty text, and other values convert to optionals`() {
    #expect(become(Int?.none as Any, String?.none) && become(Int??.some(nil) as Any, Int?.none))
    #expect(become(Int?.none as Any, "") && become(String??.some(nil) as Any, ""))
    #expect(cannot(Int?.none as Any, become: Int.self) && cannot(Int?.none as Any, become: Bool.self))
    #expect(become(Int?.some(3) as Any, "3") && become("3", Int?.some(3)) && become(3, Int??.some(3)))
    #expect(cannot("x", become: Int?.self))
  }

  @Test
  func `empty text converts to nil where the other value is an optional number or bool, and stays text otherwise`() {
    #expect(become("", Int?.none) && become("", Double?.none) && become("", Bool?.none))
    #expect(become("", String?.some("")) && become("", "") && become(" ", String?.some(" ")))
    #expect(cannot(" ", become: Int?.self) && cannot("", become: Int.self) && cannot("", become: [Int]?.self))
  }

  @Test func `other types are converted only to themselves`() {
    #expect(become([1, 2], [1, 2]) && cannot([1, 2], become: String.self) && cannot("x", become: [Int].self))
  }

  @Test
  func `equality is the type's own, by bytes for text and by identity for objects, or unknown`() {
    final class Equal: Equatable { static func == (left: Equal, right: Equal) -> Bool { true } }
    struct Plain {}
    #expect(ValueEquality.test(of: String.self)("e\u{301}", "\u{e9}") == false)
    #expect(ValueEquality.test(of: String?.self)("e\u{301}", "\u{e9}") == false)
    #expect(
      ValueEquality.test(of: String?.self)(nil, nil) == true && ValueEquality.test(of: String?.self)(nil, "") == false)
    #expect(ValueEquality.test(of: Double.self)(.nan, .nan) == true)
    #expect(ValueEquality.test(of: Int?.self)(nil, 0) == false && ValueEquality.test(of: Int?.self)(nil, nil) == true)
    #expect(ValueEquality.test(of: Equal.self)(Equal(), Equal()) == true)
    let token = Token()
    #expect(
      ValueEquality.test(of: Token.self)(token, token) == true
        && ValueEquality.test(of: Token.self)(token, Token()) == false)
    #expect(ValueEquality.test(of: Plain.self)(Plain(), Plain()) == nil)
  }
}
