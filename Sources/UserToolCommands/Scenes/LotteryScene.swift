import UserStore

/// A lottery's numbers, each bound to its labels and controls, so that a change to one reaches all.
@MainActor struct LotteryScene {
  let stage: Stage
  private let lottery = Lottery()
  private let serial = Label("serial")
  private let rate = Label("win rate")
  private let code = Label("code")
  private let winCode = Label("win code")
  private let result = Label("result")
  private let slider = Slider()
  private let field = Field()

  func play() throws {
    let (serials, rates, codes) = (bindSerial(), bindRate(), bindCode())
    let (winCodes, wins) = (bindWinCode(), bindResult())
    try stage.announce(
      "Five chains are bound; the head of each, a property of the lottery, has passed its value to the others.")
    show(serial, rate, code, winCode, result)
    let members = [serials, rates, codes, winCodes, wins].map(\.members.count).reduce(0, +)
    stage.show("members: \(members), objects alive: \(CountedObject.count)")
    try editSerial(serials)
    try moveSlider(rates)
    try draw(codes, winCodes)
    try typeTooMuch(winCodes)
    try compare(wins)
  }

  // MARK: Chains

  private func bindSerial() -> BindingChain {
    let colors = ["red", "green", "blue"]
    return BindingChain("serial")
      .bind(lottery, \.serial)
      .bind(serial, \.text)
      .bind(serial, \.background, .out, converting: .incoming { (serial: Int) in colors[serial % colors.count] })
  }

  private func bindRate() -> BindingChain {
    BindingChain("win rate")
      .bind(lottery, \.winRate)
      // One decimal place, as `%.1f` formats it.
      .bind(rate, \.text, .out, converting: .incoming { (rate: Double) in "\((rate * 10).rounded() / 10)" })
      .bind(slider, \.value)
  }

  private func bindCode() -> BindingChain {
    BindingChain("code").bind(lottery, \.code, .in).bind(code, \.text, .out)
  }

  private func bindWinCode() -> BindingChain {
    BindingChain("win code") { [stage] in stage.show("\($0)") }
      .bind(lottery, \.winCode)
      .bind(winCode, \.text)
      .bind(field, \.text, filter: { $0.count <= 3 })
  }

  private func bindResult() -> BindingChain {
    BindingChain("win")
      .bind(lottery, \.isWin)
      .bind(result, \.text, .out, converting: .incoming { (isWin: Bool) in isWin ? "You win" : "No luck" })
      .on("log") { [stage] (isWin: Bool) in stage.show("block “log”: \(isWin)") }
  }

  // MARK: Steps

  private func editSerial(_ chain: BindingChain) throws {
    try stage.announce("The serial's label is edited: \"4\". The number follows, and the color with that index.")
    serial.text = "4"
    chain.update()
    stage.show("lottery.serial  \(lottery.serial)")
    show(serial)
  }

  private func moveSlider(_ chain: BindingChain) throws {
    try stage.announce("The slider is moved to 12.75. The label shows one decimal place.")
    slider.value = 12.75
    chain.update()
    stage.show("lottery.winRate  \(lottery.winRate)")
    show(rate)
  }

  private func draw(_ codes: BindingChain, _ winCodes: BindingChain) throws {
    try stage.announce("\"777\" is typed as the win code, and then drawn.")
    field.text = "777"
    winCodes.update()
    lottery.code = "777"
    codes.update()
    show(code, winCode)
  }

  private func typeTooMuch(_ winCodes: BindingChain) throws {
    try stage.announce(
      "\"7777\" is typed: the field's filter accepts at most three characters. The field is reset, and nothing else changes."
    )
    field.text = "7777"
    winCodes.update()
    stage.show("field  \(field.text)")
    show(winCode)
  }

  private func compare(_ wins: BindingChain) throws {
    try stage.announce("The code and the win code are equal:")
    lottery.isWin = lottery.code == lottery.winCode
    wins.update()
    show(result)
  }

  private func show(_ labels: Label...) {
    for label in labels {
      stage.show("\(label.name)  \(label.text)" + (label.background.isEmpty ? "" : ", \(label.background)"))
    }
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
