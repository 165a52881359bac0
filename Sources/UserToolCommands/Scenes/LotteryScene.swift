import UserStore

/// A lottery's numbers, each bound to its labels and controls: a change to one of them reaches all.
@MainActor struct LotteryScene {
  private let stage: Stage
  private let lottery = Lottery()
  private let serial = Label("serial")
  private let rate = Label("win rate")
  private let code = Label("code")
  private let winCode = Label("win code")
  private let result = Label("result")
  private let slider = Slider()
  private let field = Field()

  init(_ stage: Stage) {
    self.stage = stage
  }

  func play() throws {
    let stage = stage
    let colors = ["red", "green", "blue"]
    let serials = BindingChain("serial")
      .bind(lottery, \.serial)
      .bind(serial, \.text)
      .bind(serial, \.background, .out, converting: .incoming { (serial: Int) in colors[serial % colors.count] })
    let rates = BindingChain("win rate")
      .bind(lottery, \.winRate)
      .bind(rate, \.text, .out, converting: .incoming { (rate: Double) in Self.oneDigit(rate) })
      .bind(slider, \.value)
    let codes = BindingChain("code")
      .bind(lottery, \.code, .in)
      .bind(code, \.text, .out)
    let winCodes = BindingChain("win code") { stage.show("\($0)") }
      .bind(lottery, \.winCode)
      .bind(winCode, \.text)
      .bind(field, \.text, filter: { $0.count <= 3 })
    let wins = BindingChain("win")
      .bind(lottery, \.isWin)
      .bind(result, \.text, .out, converting: .incoming { (isWin: Bool) in isWin ? "You win" : "No luck" })
      .on("log") { (isWin: Bool) in stage.show("block “log”: \(isWin)") }

    try stage.announce(
      "Five chains are bound; the head of each, a property of the lottery, has passed its value to the others.")
    show(serial, rate, code, winCode, result)
    let members = [serials, rates, codes, winCodes, wins].map(\.members.count).reduce(0, +)
    stage.show("members: \(members), objects alive: \(CountedObject.count)")
    let steps: [(String, @MainActor () -> Void)] = [
      (
        "The serial's label is edited: \"4\". The number follows, and the color with that index.",
        {
          serial.text = "4"
          serials.update()
          stage.show("lottery.serial  \(lottery.serial)")
          show(serial)
        }
      ),
      (
        "The slider is moved to 12.75. The label shows one decimal place.",
        {
          slider.value = 12.75
          rates.update()
          stage.show("lottery.winRate  \(lottery.winRate)")
          show(rate)
        }
      ),
      (
        "\"777\" is typed as the win code, and then drawn.",
        {
          field.text = "777"
          winCodes.update()
          lottery.code = "777"
          codes.update()
          show(code, winCode)
        }
      ),
      (
        "\"7777\" is typed: the field's filter accepts at most three characters. The field is reset, and nothing else changes.",
        {
          field.text = "7777"
          winCodes.update()
          stage.show("field  \(field.text)")
          show(winCode)
        }
      ),
      (
        "The code and the win code are equal:",
        {
          lottery.isWin = lottery.code == lottery.winCode
          wins.update()
          show(result)
        }
      ),
    ]
    for (text, step) in steps {
      try stage.announce(text)
      step()
    }
  }

  private func show(_ labels: Label...) {
    for label in labels {
      stage.show("\(label.name)  \(label.text)" + (label.background.isEmpty ? "" : ", \(label.background)"))
    }
  }

  /// Formats a number as `%.1f` does.
  nonisolated private static func oneDigit(_ value: Double) -> String {
    "\((value * 10).rounded() / 10)"
  }
}

@MainActor private final class Lottery {
  private let counted = CountedObject()
  var serial = 0
  var winRate = 10.0
  var code = "000"
  var winCode = "123"
  var isWin = false
}

@MainActor private final class Label {
  private let counted = CountedObject()
  let name: String
  var text = ""
  var background = ""

  init(_ name: String) {
    self.name = name
  }
}

@MainActor private final class Slider {
  private let counted = CountedObject()
  var value: Float = 0
}

@MainActor private final class Field {
  private let counted = CountedObject()
  var text = ""
}
