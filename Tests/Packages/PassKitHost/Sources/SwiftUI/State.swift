// How views keep and share state. On Apple's platforms `ObservableObject` and `Published` are Combine's, and SwiftUI
// hands them on.

public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct Published<Value> {
  public var wrappedValue: Value
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@propertyWrapper @MainActor public struct State<Value> {
  public var wrappedValue: Value {
    get { box.value }
    nonmutating set { box.value = newValue }
  }
  public var projectedValue: Binding<Value> { Binding(get: { box.value }, set: { box.value = $0 }) }
  private let box: Box

  public init(wrappedValue: Value) { box = Box(wrappedValue) }

  @MainActor private final class Box {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
}

extension State where Value: ExpressibleByNilLiteral {
  public init() { self.init(wrappedValue: nil) }
}

@propertyWrapper @MainActor public struct StateObject<Object: ObservableObject> {
  public let wrappedValue: Object
  public init(wrappedValue: @autoclosure @escaping @MainActor () -> Object) { self.wrappedValue = wrappedValue() }
  public var projectedValue: ObservedObject<Object>.Wrapper { .init(object: wrappedValue) }
}

@propertyWrapper @MainActor public struct ObservedObject<Object: ObservableObject> {
  public let wrappedValue: Object
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  @dynamicMemberLookup @MainActor public struct Wrapper {
    let object: Object

    public subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
      Binding(get: { object[keyPath: path] }, set: { object[keyPath: path] = $0 })
    }
  }
}

@propertyWrapper @MainActor public struct Binding<Value> {
  private let get: @MainActor () -> Value
  private let set: @MainActor (Value) -> Void

  public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
    (self.get, self.set) = (get, set)
  }

  public var wrappedValue: Value {
    get { get() }
    nonmutating set { set(newValue) }
  }
  public var projectedValue: Binding<Value> { self }
}
