extension SignalSource {
  /// Sends an event of another signal, in the cascade that caused it.
  ///
  /// It is not counted against the limit of `send`: listeners that answer each other without end do so through a source that
  /// counts. It does not wait, because it is called in the middle of rounds, and by tasks.
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
