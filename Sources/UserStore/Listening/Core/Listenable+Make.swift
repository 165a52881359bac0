extension Listenable {
  /// Makes a value in memory.
  ///
  ///     let (source, name) = Listenable.make("NIX")
  ///     name.bindAndFire("FirstScreen") { print($0) }
  ///     source.send("Zoë")
  ///
  /// - Parameters:
  ///   - value: The first value.
  ///   - onError: Gets what listeners throw, with the listener's name, on the thread that called it. A line on standard
  ///     error unless said otherwise.
  /// - Returns: the right to change the value, and the right to listen. A value that is sent is told even when it equals
  ///   the present one.
  public static func make(
    _ value: Value, onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, listenable: Listenable) {
    let hub = SignalHub(reportingTo: onError)
    let held = HubValue(
      hub: hub, topic: .all, fallback: nil, decode: { .init(value: try $0.content.get(), through: $0.position) },
      adapt: { action, onFailure in
        { round in
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
