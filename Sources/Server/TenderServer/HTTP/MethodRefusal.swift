import Administration
import HTTPTypes
import Hummingbird

/// Refuses the methods that an address does not take: 405 with `Allow` (RFC 9110, section 15.5.6).
enum MethodRefusal {
  private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

  /// Adds a refusal for every other method of every path. Called after the routes are added.
  static func add(to router: Router<ServerContext>) {
    for (path, taken) in Dictionary(grouping: router.routes, by: \.path.description) {
      let allowed = allowed(taken.map(\.method))
      for method in methods where !allowed.contains(method) {
        router.on(RouterPath(path), method: method) { _, _ -> Response in throw problem(allowed) }
      }
    }
  }

  /// A path that takes GET takes HEAD too.
  private static func allowed(_ taken: [HTTPRequest.Method]) -> [HTTPRequest.Method] {
    methods.filter { taken.contains($0) || $0 == .head && taken.contains(.get) }
  }

  private static func problem(_ allowed: [HTTPRequest.Method]) -> Problem {
    let list = allowed.map(\.rawValue).joined(separator: ", ")
    var problem = Problem(.methodNotAllowed, "method_not_allowed", "This address takes \(list).")
    problem.allow = list
    return problem
  }
}
