/// A current value, and the listeners that are told when it changes.
///
///     let name = try store.listenable(.name, of: id)
///     name.bindAndFire("FirstScreen", on: .main) { label.text = $0 }
///
/// Names are scoped by what is listened to: two listenables for the same attribute of the same user share them.
/// Named listeners live on when the listenable goes.
public final class Listenable<Value: Sendable>: Sendable {
  @usableFromInline let backing: ListenableBacking

  init(_ backing: ListenableBacking) {
    self.backing = backing
  }

  /// The value as of the round that is being delivered, or of the last one.
  ///
  /// May be read on any thread.
  @inlinable public var value: Value { ValueBox.unbox(backing.value()) }

  /// Calls `action` from the next change on.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener and takes its place in the order.
  ///   - place: Where `action` is called.
  ///   - action: Gets the new value, in commit order, once a round. It may write, bind and unbind.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place), action)
  }

  /// Calls `action` with the present value, then from the next change on: no change is missed between, none comes twice.
  ///
  /// Returns after that first call. Exceptions: inside a read or a write, inside a listener of another store and
  /// inside one that runs on an actor the call is made when that is over; bound to an actor it is made there.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener and takes its place in the order.
  ///   - place: Where `action` is called.
  ///   - action: Gets the value, in commit order.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, fires: true), action)
  }

  /// Calls `action` on the main actor from the next change on.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: `.main`.
  ///   - action: Called on the main actor.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bind(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: .mainActor)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Calls `action` with the present value, before this returns, then on the main actor from the next change on.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: `.main`.
  ///   - action: Called on the main actor.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire(
    _ name: String, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: .mainActor, isOnPlace: true, fires: true)) { value in
      try MainActor.assumeIsolated { try action(value) }
    }
  }

  /// Binds for as long as `owner` lives; it is held weakly, and handed to the action.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: Where `action` is called.
  ///   - owner: The listener ends with it.
  ///   - action: Called with the owner and the new value.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner), Self.weakly(owner, action))
  }

  /// The same with the present value first.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: Where `action` is called.
  ///   - owner: The listener ends with it.
  ///   - action: Called with the owner and the value.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    bind(name, ListeningTerms(place: place, owner: owner, fires: true), Self.weakly(owner, action))
  }

  /// Binds on the main actor for as long as `owner` lives, a screen for instance: held weakly, handed to the action.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: `.main`.
  ///   - owner: The listener ends with it.
  ///   - action: Called on the main actor with the owner and the new value.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult @inlinable
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    let onMain = Self.weakly(owner) { owner, value in try MainActor.assumeIsolated { try action(owner, value) } }
    return bind(name, ListeningTerms(place: .mainActor, owner: owner), onMain)
  }

  /// The same with the present value first, before this returns.
  ///
  /// - Parameters:
  ///   - name: Whoever binds it again replaces this listener.
  ///   - place: `.main`.
  ///   - owner: The listener ends with it.
  ///   - action: Called on the main actor with the owner and the value.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @MainActor @discardableResult @inlinable
  public func bindAndFire<Owner: AnyObject & Sendable>(
    _ name: String, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Value) throws -> Void
  ) -> ListenerToken {
    let onMain = Self.weakly(owner) { owner, value in try MainActor.assumeIsolated { try action(owner, value) } }
    return bind(name, ListeningTerms(place: .mainActor, isOnPlace: true, owner: owner, fires: true), onMain)
  }

  /// Ends a named listener now, also for the round in flight.
  ///
  /// A name that nobody has is no error.
  ///
  /// - Parameter name: The name.
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

/// What a listenable stands on, whatever its type and its hub's.
@usableFromInline struct ListenableBacking: Sendable {
  @usableFromInline let value: @Sendable () -> ErasedValue
  let names: @Sendable () -> [String]
  /// Gets what listeners throw.
  let handleError: ListenerErrors.Handler
  @usableFromInline let bind:
    @Sendable (String?, ListeningTerms, @escaping @Sendable (ErasedValue) throws -> Void) -> ListenerRemoval
  let unbind: @Sendable (String) -> Void
}

/// How somebody listens.
@usableFromInline struct ListeningTerms {
  let place: DeliveryPlace
  /// Whether the caller is on the actor that it wants to be called on.
  let isOnPlace: Bool
  let owner: (any AnyObject & Sendable)?
  /// Whether the present value comes first.
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
