public import PassKit

/// A view with a modifier.
public struct Modified<Content: View>: Drawn {
  public let content: Content
}

public enum Font { case title, headline, caption }
public enum SegmentedPickerStyle { case segmented }

extension View {
  public func padding() -> Modified<Self> { Modified(content: self) }
  public func font(_ font: Font) -> Modified<Self> { Modified(content: self) }
  public func tag(_ value: some Hashable) -> Modified<Self> { Modified(content: self) }
  public func multilineTextAlignment(_ alignment: TextAlignment) -> Modified<Self> { Modified(content: self) }
  public func navigationTitle(_ title: String) -> Modified<Self> { Modified(content: self) }
  public func pickerStyle(_ style: SegmentedPickerStyle) -> Modified<Self> { Modified(content: self) }
  public func payWithApplePayButtonStyle(_ style: PayWithApplePayButtonStyle) -> Modified<Self> {
    Modified(content: self)
  }

  public func frame(minWidth: Double? = nil, minHeight: Double? = nil) -> Modified<Self> { Modified(content: self) }

  public func safeAreaInset(edge: VerticalEdge, @ViewBuilder content: () -> some View) -> Modified<Self> {
    _ = content()
    return Modified(content: self)
  }

  public func alert(
    _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: () -> some View,
    @ViewBuilder message: () -> some View
  ) -> Modified<Self> {
    _ = (actions(), message())
    return Modified(content: self)
  }

  public func sheet(isPresented: Binding<Bool>, @ViewBuilder content: @escaping () -> some View) -> Modified<Self> {
    Modified(content: self)
  }

  public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> Modified<Self> {
    Modified(content: self)
  }

  public func onContinueUserActivity(
    _ activityType: String, perform action: @escaping (NSUserActivity) -> Void
  ) -> Modified<Self> {
    Modified(content: self)
  }
}
