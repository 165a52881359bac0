import Testing
import UserStore

/// Runs the examples of the article “Binding both ways”.
@Suite @MainActor struct BindingBothWaysArticle {
  @MainActor private final class Lottery {
    var serial = 0
    var code = "000"
    var isWin = false
  }

  @MainActor private final class Label {
    var text = ""
    var background = ""
  }

  @MainActor private final class Field {
    var text = ""
  }

  @MainActor private final class Form {
    var name = ""
    var note = ""
  }

  private let printed = Printed()
  private let lottery = Lottery()

  @Test func `a number is bound to a label and to its color`() {
    let colors = ["red", "green", "blue"]
    let label = Label()

    let serial = BindingChain("serial")
      .bind(lottery, \.serial)
      .bind(label, \.text)
      .bind(label, \.background, .out, converting: .incoming { (serial: Int) in colors[serial % colors.count] })
    label.text = "4"
    serial.update()

    #expect(lottery.serial == 4 && label.background == "green")
  }

  @Test func `a filter refuses a value, and the property is set back`() {
    let print = printed.print
    let field = Field()

    let code = BindingChain("code") { error in print(error) }
      .bind(lottery, \.code)
      .bind(field, \.text, filter: { $0.count <= 3 })
    field.text = "7777"
    code.update()

    #expect(lottery.code == "000" && field.text == "000")
    #expect(printed.taken() == ["code: a filter of Field.text refused “7777”"])
  }

  @Test func `a form is bound to a user`() throws {
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    let form = Form()

    let name = BindingChain("name form") { error in print(error) }
      .bind(store, .name, of: user)
      .bind(form, \.name)
    form.name = "Zoë"
    name.update()
    print("stored:", try store.read { try $0.user(user)?.name } ?? "gone")
    form.name = ""
    name.update()
    print("form:", form.name)

    let lines = printed.taken()
    #expect(lines.first == "stored: Zoë" && lines.last == "form: Zoë" && lines.count == 3)
  }

  @Test func `a closure receives the values of a chain`() {
    let print = printed.print
    let label = Label()

    let win = BindingChain("win")
      .bind(lottery, \.isWin)
      .bind(label, \.text, .out, converting: .incoming { (isWin: Bool) in isWin ? "You win" : "No luck" })
      .on("log") { (isWin: Bool) in print("win:", isWin) }
    lottery.isWin = true
    win.update()

    #expect(label.text == "You win")
    #expect(printed.taken() == ["win: true"])
  }

  @Test func `an empty field unsets a text`() throws {
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    try store.write { try $0.set(.note, of: user, to: "x") }
    let form = Form()

    let emptyIsUnset = BindingConverter<String>.both(
      incoming: { (text: String?) in text ?? "" }, outgoing: { $0.isEmpty ? nil : $0 })
    let note = BindingChain("note").bind(store, .note, of: user).bind(form, \.note, converting: emptyIsUnset)
    form.note = ""
    note.update()

    #expect(try store.read { try $0.value(.note, of: user) } == nil && form.note == "")
  }
}

extension Attribute where Value == String {
  fileprivate static var note: Attribute { Attribute("note") }
}
