extension SignalSource {
  /// Passes on what another signal told, as a part of what caused that.
  ///
  /// Not counted against the limit of `send`: who answers without end does so through a source that counts. Waits for
  /// nobody, because it is called in the middle of a round, and by tasks.
  func relay(_ event: Signal<Value>.Event) {
    let cascade = DeliveryThread.current.calling?.cascade
    switch event {
    case .value(let value): append(.success(ValueBox(value)), in: cascade)
    case .failure(let error): append(.failure(error), in: cascade)
    case .end: hub?.end(waits: false)
    }
    deliver()
  }
}
