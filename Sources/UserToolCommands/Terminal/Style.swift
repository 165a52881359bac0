import ArgumentParser
import UserStore

enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

/// Colors, which only repeat information in the text.
struct Style: Sendable {
  let isColored: Bool

  static let plain = Style(.never, isTerminal: false)

  /// Decides by the option, then NO_COLOR, then CLICOLOR_FORCE, then whether the output is a terminal.
  init(_ choice: ColorChoice, isTerminal: Bool) {
    isColored =
      switch choice {
      case .always: true
      case .never: false
      case .auto where System.environment("NO_COLOR") != nil: false
      case .auto where System.environment("CLICOLOR_FORCE").map({ $0 != "0" }) ?? false: true
      case .auto: isTerminal && System.environment("TERM") != "dumb"
      }
  }

  func dim(_ text: String) -> String { paint(text, "2") }
  func bold(_ text: String) -> String { paint(text, "1") }
  func old(_ text: String) -> String { paint(text, "31") }
  func new(_ text: String) -> String { paint(text, "32") }
  func mark(_ text: String) -> String { paint(text, "7") }

  func swatch(_ value: StoredValue, of attribute: AttributeName) -> String {
    guard isColored, attribute == .hairColor, let color = Color(storedValue: value) else { return "" }
    return " \u{1B}[48;2;\(color.red);\(color.green);\(color.blue)m  \u{1B}[0m"
  }

  private func paint(_ text: String, _ code: String) -> String {
    isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
