// The parts of SwiftUI that the kit's button, the example and the guide use. Nothing is drawn: a view is kept for
// tests, or discarded.

@MainActor public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { return preconditionFailure("nothing is drawn here") }
}

/// A view that has no body of its own.
public protocol Drawn: View where Body == Never {}
extension Drawn {
  public var body: Never { return preconditionFailure("nothing is drawn here") }
}

@resultBuilder @MainActor public enum ViewBuilder {
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content> {
    TupleView(repeat each content)
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { .first(first) }
  public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { .second(second) }
}

extension Optional: View, Drawn where Wrapped: View {}

public enum Either<First: View, Second: View>: Drawn {
  case first(First)
  case second(Second)
}

public struct TupleView<each Content: View>: Drawn {
  public let content: (repeat each Content)
  init(_ content: repeat each Content) { self.content = (repeat each content) }
}

public struct EmptyView: Drawn {
  public init() {}
}

public struct ProgressView: Drawn {
  public init() {}
}

public struct Text: Drawn {
  public let text: String
  public init(_ text: String) { self.text = text }
}

public struct Button: Drawn {
  public let title: String
  public let action: @MainActor () -> Void
  public init(_ title: String, action: @escaping @MainActor () -> Void) { (self.title, self.action) = (title, action) }
}

public enum HorizontalAlignment { case leading, center, trailing }
public enum TextAlignment { case leading, center, trailing }
public enum VerticalEdge { case top, bottom }

public struct VStack<Content: View>: Drawn {
  public init(
    alignment: HorizontalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> Content
  ) { _ = content() }
}

public struct List<Content: View>: Drawn {
  public init(@ViewBuilder content: () -> Content) { _ = content() }
}

public struct NavigationStack<Root: View>: Drawn {
  public init(@ViewBuilder root: () -> Root) { _ = root() }
}

public struct ForEach<Data: RandomAccessCollection, Content: View>: Drawn where Data.Element: Identifiable {
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

public struct Picker<Selection: Hashable, Content: View>: Drawn {
  public init(_ title: String, selection: Binding<Selection>, @ViewBuilder content: () -> Content) { _ = content() }
}

public struct Stepper<Label: View>: Drawn {
  public init<Value: Strideable>(
    value: Binding<Value>, in bounds: ClosedRange<Value>, @ViewBuilder label: () -> Label
  ) { _ = label() }
}

/// Of the overlay between PassKit and SwiftUI.
public struct PayWithApplePayButton<Fallback: View>: Drawn {
  public let label: PayWithApplePayButtonLabel
  public let action: () -> Void

  public init(
    _ label: PayWithApplePayButtonLabel = .plain, action: @escaping () -> Void,
    @ViewBuilder fallback: () -> Fallback
  ) {
    (self.label, self.action) = (label, action)
  }
}

public struct PayWithApplePayButtonLabel: Sendable, Hashable {
  private let name: String

  public static let plain = PayWithApplePayButtonLabel(name: "plain")
  public static let buy = PayWithApplePayButtonLabel(name: "buy")
  public static let setUp = PayWithApplePayButtonLabel(name: "setUp")
  public static let checkout = PayWithApplePayButtonLabel(name: "checkout")
  public static let order = PayWithApplePayButtonLabel(name: "order")
  public static let subscribe = PayWithApplePayButtonLabel(name: "subscribe")
}

public enum PayWithApplePayButtonStyle { case automatic, black, white, whiteOutline }
