extension BindingChain {
  /// Adds a property of an object to the chain.
  ///
  /// Binding the same property again adds the directions and the filters, and replaces the converter.
  ///
  /// - Parameters:
  ///   - object: The object, held weakly. If it is `@Observable`, its changes are noticed on the next turn of the main actor;
  ///     otherwise call `update()` after a change.
  ///   - keyPath: The property. For an element of an array that may be missing use `bind(_:_:at:)`, because `\.items[2]` must
  ///     exist.
  ///   - direction: Whether the member sends, receives, or both.
  ///   - converter: Converts between the member's values and those of the other members.
  ///   - initial: The member whose value the others receive now.
  ///   - filter: The conditions for its values, both those that it sends and those that it receives. All must accept.
  ///   - fileID: The file of the call, which names the property in messages if it has no name at run time.
  ///   - line: The line of the call.
  /// - Returns: This chain.
  @discardableResult
  public func bind<Object: AnyObject, Value>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value> = .automatic, initial: Initial = .head,
    filter: (@MainActor (Value) -> Bool)..., fileID: String = #fileID, line: Int = #line
  ) -> BindingChain {
    add(
      Member(
        PropertyPlace(object, keyPath, name: keyPath.name(at: fileID, line)), context, direction, converter, filter),
      initial)
  }

  /// Adds a property that has its own source of changes, for example a control.
  ///
  /// - Parameters:
  ///   - object: The object, held weakly.
  ///   - keyPath: The property.
  ///   - direction: Whether the member sends, receives, or both.
  ///   - converter: Converts between the member's values and those of the other members.
  ///   - initial: The member whose value the others receive now.
  ///   - events: Emits any value when the property has changed. The property is read on the main actor.
  ///   - filter: The conditions for its values. All must accept.
  ///   - fileID: The file of the call, which names the property in messages if it has no name at run time.
  ///   - line: The line of the call.
  /// - Returns: This chain.
  @discardableResult
  public func bind<Object: AnyObject, Value: Equatable, Event>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, _ direction: Direction = .inout,
    converting converter: BindingConverter<Value> = .automatic, initial: Initial = .head, events: Signal<Event>,
    filter: (@MainActor (Value) -> Bool)..., fileID: String = #fileID, line: Int = #line
  ) -> BindingChain {
    let new = Member(
      PropertyPlace(object, keyPath, name: keyPath.name(at: fileID, line)), context, direction, converter, filter
    ) { member in
      events.subscribe(on: .main) { [weak member] _ in member?.placeChanged(.current) }
    }
    return add(new, initial)
  }

  /// Adds an element of an array to the chain; it is the same member as `\.items[2]`.
  ///
  /// While the array is too short, the member neither sends nor receives.
  ///
  /// - Parameters:
  ///   - object: The object, held weakly.
  ///   - keyPath: The array.
  ///   - index: The index of the element.
  ///   - direction: Whether the member sends, receives, or both.
  ///   - converter: Converts between the member's values and those of the other members.
  ///   - initial: The member whose value the others receive now.
  ///   - filter: The conditions for its values. All must accept.
  ///   - fileID: The file of the call, which names the property in messages if it has no name at run time.
  ///   - line: The line of the call.
  /// - Returns: This chain.
  @discardableResult
  public func bind<Object: AnyObject, Element>(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, [Element]>, at index: Int,
    _ direction: Direction = .inout, converting converter: BindingConverter<Element> = .automatic,
    initial: Initial = .head, filter: (@MainActor (Element) -> Bool)..., fileID: String = #fileID, line: Int = #line
  ) -> BindingChain {
    let name = keyPath.name(at: fileID, line, element: index)
    let place = PropertyPlace(object, keyPath.appending(path: \.[index]), name: name) {
      $0[keyPath: keyPath].indices.contains(index)
    }
    return add(Member(place, context, direction, converter, filter), initial)
  }

  /// Adds a listenable to the chain.
  ///
  /// - Parameters:
  ///   - listenable: The listenable, held weakly.
  ///   - source: Sets the listenable's value; held weakly. If nil, the member only sends.
  ///   - direction: Whether the member sends, receives, or both.
  ///   - converter: Converts between the member's values and those of the other members.
  ///   - initial: The member whose value the others receive now.
  ///   - filter: The conditions for its values. All must accept.
  /// - Returns: This chain.
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
