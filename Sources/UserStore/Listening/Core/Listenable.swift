/// A current value, and the listeners that are called when it changes.
///
///     let name = try store.listenable(.name, of: id)
///     name.bindAndFire("FirstScreen", on: .main) { label.text = $0 }
///
/// The names of listeners belong to the attribute or value, not to this object: two listenables for the same attribute of the
/// same user share them. Named listeners of an attribute outlive the listenable; those of a value in memory end with it.
public final class Listenable<Value: Sendable>: Sendable {
  @usableFromInline let backing: ListenableBacking

  init(_ backing: ListenableBacking) { self.backing = backing }

  /// Creates a value in memory.
  ///
  ///     let (source, name) = Listenable.make("NIX")
  ///     name.bindAndFire("FirstScreen") { print($0) }
  ///     source.send("Zoë")
  ///
  /// - Parameters:
  ///   - value: The first value.
  ///   - onError: Called with errors that listeners throw and the listener's name, on the thread that called the listener. The
  ///     default prints a line to standard error. The source holds it too: it should capture an owner of the source weakly.
  /// - Returns: The source, which sets the value, and the listenable. Every value is delivered, even one that equals the
  ///   current value.
  public static func make(
    _ value: Value, onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, listenable: Listenable) {
    let (receiver, backing) = ListenableBacking.keeping(ValueBox(value), onError: onError ?? ListenerErrors.print)
    return (SignalSource(receiver), Listenable(backing))
  }

  /// The value as of the round that is being delivered, or of the last round; can be read on any thread.
  @inlinable public var value: Value { ValueBox.unbox(backing.value()) }

  /// Calls a closure with each new value, starting with the next change.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced; its place in the order is kept.
  ///   - place: The place where `action` is called.
  ///   - action: Called with the new value, once per round, in commit order. It can write, bind, and unbind. An error that it
  ///     throws goes to the error handler.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place), action)
  }

  /// Calls a closure with the current value and then with each new value; none is missed, and none is received twice.
  ///
  /// Normally, the first call is made before this method returns. Inside a read, a write, a listener of another store, or a
  /// listener on an actor, it is made when that ends. On an actor (`place`), it may be made after this method returns.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced; its place in the order is kept.
  ///   - place: The place where `action` is called.
  ///   - action: Called with the value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, fires: true), action)
  }

  /// Calls a closure on the main actor with each new value, starting with the next change.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: `.main`, or `.latestOnMain` to skip values that are no longer current.
  ///   - action: Called on the main actor with the new value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place.delivery)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Calls a closure with the current value before this method returns, and then on the main actor with each new value.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: `.main`, or `.latestOnMain` to skip values that are no longer current.
  ///   - action: Called on the main actor with the value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place.delivery, isOnPlace: true, fires: true)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Calls a closure with each new value for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: The place where `action` is called.
  ///   - owner: Held weakly; when it is released, the listener is removed.
  ///   - action: Called with the owner and the new value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner), Self.weakly(owner, action))
  }

  /// Calls a closure with the current value and then with each new value for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: The place where `action` is called.
  ///   - owner: Held weakly; when it is released, the listener is removed.
  ///   - action: Called with the owner and the value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner, fires: true), Self.weakly(owner, action))
  }

  /// Calls a closure on the main actor with each new value for as long as an owner, for example a screen, lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: `.main`, or `.latestOnMain` to skip values that are no longer current.
  ///   - owner: Held weakly; when it is released, the listener is removed.
  ///   - action: Called on the main actor with the owner and the new value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, on: place.delivery, owner: owner) { owner, value in
      try MainActor.assumeIsolated { try action(owner, value) }
    }
  }

  /// Calls a closure with the current value before this method returns, and then on the main actor for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. A listener that has this name is replaced.
  ///   - place: `.main`, or `.latestOnMain` to skip values that are no longer current.
  ///   - owner: Held weakly; when it is released, the listener is removed.
  ///   - action: Called on the main actor with the owner and the value, in commit order.
  /// - Returns: A token that unbinds the listener when it is disposed; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    let onMain = Self.weakly(owner) { owner, value in try MainActor.assumeIsolated { try action(owner, value) } }
    return bind(name, ListeningTerms(place: place.delivery, isOnPlace: true, owner: owner, fires: true), onMain)
  }

  /// Removes a named listener immediately, even for the round that is being delivered; does nothing if the name is not bound.
  ///
  /// - Parameter name: The listener's name.
  public func unbind(_ name: String) { backing.unbind(name) }

  /// The names that are bound, in the order of calls.
  public var names: [String] { backing.names() }

  @inlinable static func weakly<Owner: AnyObject & Sendable>(
    _ owner: Owner, _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> @Sendable (Value) throws -> Void {
    { [weak owner] value in
      if let owner { try action(owner, value) }
    }
  }

  @inlinable static func receivingValues(_ action: @escaping @Sendable (Value) throws -> Void) -> SignalAction {
    { round in
      if let value = ValueBox<Value>.unbox(round.content) { try action(value) }
    }
  }

  @inlinable func bind(
    _ name: String, _ terms: ListeningTerms, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    ListenerToken(backing.bind(name, terms, Self.receivingValues(action)))
  }

  func subscribe(
    _ terms: ListeningTerms, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(backing.bind(nil, terms, Self.receivingValues(action)))
  }
}

/// The functions behind a listenable, for every type of hub.
@usableFromInline struct ListenableBacking: Sendable {
  @usableFromInline let value: @Sendable () -> ErasedValue
  let names: @Sendable () -> [String]
  let handleError: ListenerErrors.Handler
  @usableFromInline let bind: @Sendable (String?, ListeningTerms, @escaping SignalAction) -> ListenerRemoval
  let unbind: @Sendable (String) -> Void
}

extension ListenableBacking {
  /// Returns a backing with the same rounds and names, whose values are transformed.
  func map(_ transform: @escaping @Sendable (ErasedValue) -> ErasedValue) -> ListenableBacking {
    ListenableBacking(
      value: { transform(value()) }, names: names, handleError: handleError,
      bind: { name, terms, action in
        bind(name, terms) { round in
          try action(SignalRound(position: round.position, content: round.content.map(transform)))
        }
      }, unbind: unbind)
  }

  /// A value in memory: `first`, and then the value of each round of a hub.
  static func keeping(
    _ first: ErasedValue, onError: @escaping ListenerErrors.Handler
  ) -> (receiver: SignalReceiver, backing: ListenableBacking) {
    let receiver = SignalReceiver(SignalHub(reportsFailures: true, onError: onError))
    let hub = receiver.hub
    hub.keep(first)
    let backing = ListenableBacking(
      value: { receiver.hub.kept.value },
      names: { hub.names(of: .all) },
      handleError: onError,
      bind: { name, terms, action in
        // The closure holds the receiver until the first value is delivered.
        hub.bind(name, to: .all, terms, reading: { receiver.hub.kept }, action, onRound: SignalRound.Action.init)
      },
      unbind: { hub.remove($0, from: .all) })
    return (receiver, backing)
  }
}

@usableFromInline struct ListeningTerms {
  var place: DeliveryPlace
  /// Whether the caller is on the actor that the listener is called on.
  let isOnPlace: Bool
  let owner: (any AnyObject & Sendable)?
  /// Whether the listener is called with the current value first.
  var fires: Bool
  @usableFromInline var onEnd: (@Sendable () throws -> Void)?

  @usableFromInline init(
    place: DeliveryPlace = .inline, isOnPlace: Bool = false, owner: (any AnyObject & Sendable)? = nil,
    fires: Bool = false, onEnd: (@Sendable () throws -> Void)? = nil
  ) {
    self.place = place
    self.isOnPlace = isOnPlace
    self.owner = owner
    self.fires = fires
    self.onEnd = onEnd
  }
}
