extension BindingChain {
  /// Makes a property a member.
  ///
  /// Bound once more, its directions and its filters add up, and a converter replaces the one before.
  ///
  /// - Parameters:
  ///   - object: Held weakly. Changes are noticed by themselves when it is `@Observable`, otherwise by `update()`.
  ///   - keyPath: The property. An element of an array, as `\.items[2]`, must be there: `at:` is for one that may not.
  ///   - direction: Which way values go.
  ///   - converter: Between this member and the others.
  ///   - initial: Whose value counts now.
  ///   - filter: What its values must be, be it the source or not; all of them must accept.
  /// - Returns: the chain.
  @discardableResult
  public func bind<Object: AnyObject, Value>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value> = .automatic, initial: Initial = .head,
    filter: (@MainActor (Value) -> Bool)...
  ) -> BindingChain {
    add(Member(PropertyPlace(object, keyPath), context, direction, converter, filter), initial)
  }

  /// Makes a property a member that has its own source of changes: a control, for instance.
  ///
  /// - Parameters:
  ///   - object: Held weakly.
  ///   - keyPath: The property.
  ///   - direction: Which way values go.
  ///   - converter: Between this member and the others.
  ///   - initial: Whose value counts now.
  ///   - events: Tells, with whatever, that the property has been changed; it is looked at on the main actor.
  ///   - filter: What its values must be; all of them must accept.
  /// - Returns: the chain.
  @discardableResult
  public func bind<Object: AnyObject, Value: Equatable, Event>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value> = .automatic, initial: Initial = .head, events: Signal<Event>,
    filter: (@MainActor (Value) -> Bool)...
  ) -> BindingChain {
    let source = { @MainActor (told: MemberEvents) in events.subscribe(on: .main) { _ in told.changed(.current) } }
    return add(Member(PropertyPlace(object, keyPath), context, direction, converter, filter, source: source), initial)
  }

  /// Makes an element of an array a member, the same as `\.items[2]`.
  ///
  /// As long as the array is too short the member neither sends nor receives.
  ///
  /// - Parameters:
  ///   - object: Held weakly.
  ///   - keyPath: The array.
  ///   - index: Which element.
  ///   - direction: Which way values go.
  ///   - converter: Between this member and the others.
  ///   - initial: Whose value counts now.
  ///   - filter: What its values must be; all of them must accept.
  /// - Returns: the chain.
  @discardableResult
  public func bind<Object: AnyObject, Element>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, [Element]>, at index: Int,
    _ direction: Direction = .inout, converting converter: BindingConverter<Element> = .automatic,
    initial: Initial = .head, filter: (@MainActor (Element) -> Bool)...
  ) -> BindingChain {
    let element = keyPath.appending(path: \.[index])
    let place = PropertyPlace<Object, Element>(
      object, element, name: "\(keyPath.name)[\(index)]",
      get: { $0[keyPath: keyPath].indices.contains(index) ? $0[keyPath: element] : nil },
      set: { if $0[keyPath: keyPath].indices.contains(index) { $0[keyPath: element] = $1 } })
    return add(Member(place, context, direction, converter, filter), initial)
  }

  /// Makes a value in memory a member.
  ///
  /// - Parameters:
  ///   - listenable: Held weakly.
  ///   - source: The right to change it, held weakly; without, the member sends only.
  ///   - direction: Which way values go.
  ///   - converter: Between this member and the others.
  ///   - initial: Whose value counts now.
  ///   - filter: What its values must be; all of them must accept.
  /// - Returns: the chain.
  @discardableResult
  public func bind<Value: Sendable & Equatable>(
    _ listenable: Listenable<Value>, _ source: SignalSource<Value>?, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value> = .automatic, initial: Initial = .head,
    filter: (@MainActor (Value) -> Bool)...
  ) -> BindingChain {
    let place = ListenablePlace(listenable, source)
    return add(Member(place, context, source == nil ? .in : direction, converter, filter), initial)
  }
}
