/// The notation of queries in the hints of a `TextError`.
public enum QueryNotation: Sendable {
  /// The options of `usertool list`, with values quoted for a shell: `--where 'age>=18'`.
  case options
  /// The decoded parameters of a request, in double quotes: `"where=age>=18"`; the request itself has `where=age%3E%3D18`.
  case parameters
}

extension QueryNotation {
  /// The parts of a query; the raw values are the names of the options and parameters.
  package enum Parameter: String, Sendable {
    case condition = "where"
    case present = "with"
    case absent = "without"
    case order = "sort"
    case place = "after"
  }

  /// The name of an option or a parameter: `--where` or `where`.
  func name(_ parameter: Parameter) -> String {
    switch self {
    case .options: "--" + parameter.rawValue
    case .parameters: parameter.rawValue
    }
  }

  /// An option or a parameter with its value: `--where 'age>=18'` or `"where=age>=18"`.
  func argument(_ parameter: Parameter, _ text: String) -> String {
    switch self {
    case .options:
      // With a space, a value that starts with a dash would be an option.
      name(parameter) + (text.utf8.first == UInt8(ascii: "-") ? "=" : " ")
        + text.shellWord(alwaysQuoted: parameter == .condition)
    case .parameters: "\"\(parameter.rawValue)=\(text)\""
    }
  }

  func question(_ parameter: Parameter, _ text: String) -> String {
    "did you mean \(argument(parameter, text))?"
  }
}
