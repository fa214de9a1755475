@MainActor public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}

extension App {
  /// Nothing runs here: the example is compiled.
  public static func main() { _ = Self().body }
}

@MainActor public protocol Scene {}

@resultBuilder @MainActor public enum SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
  public init(@ViewBuilder content: () -> Content) { _ = content() }
}
