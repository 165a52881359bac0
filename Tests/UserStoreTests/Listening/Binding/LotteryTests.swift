import Testing
import UserStore

/// The chains of a lottery, as a program would write them, for part D of the article “What it grew from”.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct LotteryTests {
  @MainActor final class Lottery {
    var serial = 0
    var winRate = 0.25
    var code = "000"
    var winCode = "123"
    var isWin = false
  }

  @MainActor final class Label {
    var text = ""
    var background = "white"
  }

  @MainActor final class Slider {
    var value = 0.0
  }

  @MainActor final class Field {
    var text = ""
  }

  let lottery = Lottery()
  let serial = Label()
  let rate = Label()
  let code = Label()
  let winCode = Label()
  let result = Label()
  let slider = Slider()
  let field = Field()

  @Test func `the lottery's scene`() {
    var printed: [String] = []
    let colors = ["red", "green", "blue"]

    let serials = BindingChain("serial")
      .bind(lottery, \.serial)
      .bind(serial, \.text)
      .bind(serial, \.background, .out, converting: .incoming { (serial: Int) in colors[serial % colors.count] })

    let rates = BindingChain("win rate")
      .bind(lottery, \.winRate)
      .bind(rate, \.text, .out, converting: .incoming { (rate: Double) in "\((rate * 1_000).rounded() / 10) %" })
      .bind(slider, \.value, converting: .both(incoming: { (rate: Double) in rate * 100 }, outgoing: { $0 / 100 }))

    let codes = BindingChain("code")
      .bind(lottery, \.code, .in)
      .bind(code, \.text, .out)

    let winCodes = BindingChain("win code") { printed.append("\($0)") }
      .bind(lottery, \.winCode)
      .bind(winCode, \.text)
      .bind(field, \.text, filter: { $0.count <= 3 })

    let wins = BindingChain("win")
      .bind(lottery, \.isWin)
      .bind(result, \.text, .out, converting: .incoming { (isWin: Bool) in isWin ? "You win" : "No luck" })
      .on("log") { (isWin: Bool) in printed.append("win: \(isWin)") }

    #expect((serial.text, serial.background) == ("0", "red"))
    #expect((rate.text, slider.value, code.text) == ("25.0 %", 25, "000"))
    #expect((winCode.text, field.text, result.text) == ("123", "123", "No luck"))

    serial.text = "4"
    serials.update()
    #expect((lottery.serial, serial.background) == (4, "green"))

    slider.value = 12.5
    rates.update()
    #expect((lottery.winRate, rate.text) == (0.125, "12.5 %"))

    lottery.code = "777"
    codes.update()
    #expect(code.text == "777")

    field.text = "777"
    winCodes.update()
    #expect((lottery.winCode, winCode.text) == ("777", "777"))

    field.text = "7777"
    winCodes.update()
    #expect((lottery.winCode, winCode.text, field.text) == ("777", "777", "777"))

    lottery.isWin = lottery.code == lottery.winCode
    wins.update()
    #expect(result.text == "You win")
    #expect(printed == ["win code: a filter of Field.text refused “7777”", "win: true"])
  }
}
