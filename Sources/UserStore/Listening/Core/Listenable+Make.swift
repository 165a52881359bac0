extension Listenable {
  /// Makes a value in memory.
  ///
  ///     let (source, name) = Listenable.make("NIX")
  ///     name.bindAndFire("FirstScreen") { print($0) }
  ///     source.send("Zoë")
  ///
  /// - Parameters:
  ///   - value: The first value.
  ///   - onError: Called with errors that listeners throw and with the listener's name, on the thread that called the
  ///     listener. The default prints a line to standard error.
  /// - Returns: the source, which sets the value, and the listenable. The source delivers every value, also one that equals
  ///   the present value.
  public static func make(
    _ value: Value, onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, listenable: Listenable) {
    let hub = SignalHub(reportingTo: onError)
    let held = HubValue(
      hub: hub, topic: .all, fallback: nil, decode: { .init(value: try $0.content.get(), through: $0.position) },
      adapt: { action, onFailure in
        SignalRound.Action { round in
          switch round.content {
          case .success(let value): try action(value)
          case .failure(let error): try onFailure?(error)
          }
        }
      },
      read: { .init(value: ValueBox(value), through: 0) })
    return (SignalSource(hub), Listenable(held.backing))
  }
}
