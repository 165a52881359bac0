/// A present value, and the listeners that are called when it changes.
///
///     let name = try store.listenable(.name, of: id)
///     name.bindAndFire("FirstScreen", on: .main) { label.text = $0 }
///
/// Names belong to the attribute or value, not to this object: two listenables for the same attribute of the same user
/// share them. Named listeners outlive the listenable.
public final class Listenable<Value: Sendable>: Sendable {
  @usableFromInline let backing: ListenableBacking

  init(_ backing: ListenableBacking) {
    self.backing = backing
  }

  /// The value as of the round that is being delivered, or of the last round.
  ///
  /// May be read on any thread.
  @inlinable public var value: Value { ValueBox.unbox(backing.value()) }

  /// Calls a closure with each new value, from the next change on.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name, and takes its place in the order.
  ///   - place: The place where `action` is called.
  ///   - action: Called with the new value, once a round, in commit order. It may write, bind and unbind. An error that it
  ///     throws goes to the error handler.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place), action)
  }

  /// Calls a closure with the present value, then with each new value; no change is missed between, and none comes twice.
  ///
  /// The first call is made before this method returns, with these exceptions: inside of a read or a write, inside of a
  /// listener of another store and inside of a listener on an actor it is made when that has ended; with an actor as the
  /// place, it is made there.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name, and takes its place in the order.
  ///   - place: The place where `action` is called.
  ///   - action: Called with the value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, fires: true), action)
  }

  /// Calls a closure on the main actor with each new value, from the next change on.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the new value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: .mainActor)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Calls a closure with the present value, before this method returns, then on the main actor with each new value.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: .mainActor, isOnPlace: true, fires: true)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Calls a closure with each new value for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: The place where `action` is called.
  ///   - owner: Held weakly; the listener ends with it.
  ///   - action: Called with the owner and the new value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner), Self.weakly(owner, action))
  }

  /// Calls a closure with the present value, then with each new value, for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: The place where `action` is called.
  ///   - owner: Held weakly; the listener ends with it.
  ///   - action: Called with the owner and the value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner, fires: true), Self.weakly(owner, action))
  }

  /// Calls a closure on the main actor with each new value for as long as an owner lives, a screen for instance.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: `.main`.
  ///   - owner: Held weakly; the listener ends with it.
  ///   - action: Called on the main actor with the owner and the new value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    let onMain = Self.weakly(owner) { owner, value in try MainActor.assumeIsolated { try action(owner, value) } }
    return bind(name, ListeningTerms(place: .mainActor, owner: owner), onMain)
  }

  /// Calls a closure with the present value, before this method returns, then on the main actor for as long as an owner lives.
  ///
  /// - Parameters:
  ///   - name: The listener's name. It replaces the listener that has this name.
  ///   - place: `.main`.
  ///   - owner: Held weakly; the listener ends with it.
  ///   - action: Called on the main actor with the owner and the value, in commit order.
  /// - Returns: a token that unbinds the listener when it is disposed; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    let onMain = Self.weakly(owner) { owner, value in try MainActor.assumeIsolated { try action(owner, value) } }
    return bind(name, ListeningTerms(place: .mainActor, isOnPlace: true, owner: owner, fires: true), onMain)
  }

  /// Ends a named listener immediately, also for the round that is being delivered.
  ///
  /// Does nothing when the name is not bound.
  ///
  /// - Parameter name: The listener's name.
  public func unbind(_ name: String) {
    backing.unbind(name)
  }

  /// The names that are bound, in the order of calls.
  public var names: [String] { backing.names() }

  @inlinable static func weakly<Owner: AnyObject & Sendable>(
    _ owner: Owner, _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> @Sendable (Value) throws -> Void {
    { [weak owner] value in
      if let owner { try action(owner, value) }
    }
  }

  @inlinable func bind(
    _ name: String, _ terms: ListeningTerms, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    ListenerToken(backing.bind(name, terms) { try action(ValueBox.unbox($0)) })
  }

  /// Binds a listener without a name.
  func subscribe(
    _ terms: ListeningTerms, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    SubscriptionToken(backing.bind(nil, terms) { try action(ValueBox.unbox($0)) })
  }
}

/// The functions behind a listenable, for every type of hub.
@usableFromInline struct ListenableBacking: Sendable {
  @usableFromInline let value: @Sendable () -> ErasedValue
  let names: @Sendable () -> [String]
  /// Called with errors that listeners throw.
  let handleError: ListenerErrors.Handler
  @usableFromInline let bind:
    @Sendable (String?, ListeningTerms, @escaping @Sendable (ErasedValue) throws -> Void) -> ListenerRemoval
  let unbind: @Sendable (String) -> Void
}

/// How a listener is called.
@usableFromInline struct ListeningTerms {
  let place: DeliveryPlace
  /// Whether the caller is on the actor that the listener is called on.
  let isOnPlace: Bool
  let owner: (any AnyObject & Sendable)?
  /// Whether the listener is called with the present value first.
  var fires: Bool
  @usableFromInline var onEnd: (@Sendable () throws -> Void)?
  /// Called with failures that were sent.
  ///
  /// Only `Listenable.signal` sets it; named listeners do not receive failures.
  var onFailure: OnFailure?

  typealias OnFailure = @Sendable (any Error) throws -> Void

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
