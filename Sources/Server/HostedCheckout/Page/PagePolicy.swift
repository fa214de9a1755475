package import HTTPTypes

/// What a page may load, where its forms may go, and who may frame it.
struct PagePolicy {
  /// - Parameters:
  ///   - sandbox: the origin of the simulated Apple Pay; nil outside `simulated`.
  ///   - shown: nil for a page about no checkout.
  static func headers(_ shown: ShownCheckout?, sandbox: String?) -> HTTPFields {
    let own = (["'self'"] + [sandbox].compactMap { $0 }).joined(separator: " ")
    let back = shown?.checkout.returnURL.flatMap(ReturnURL.origin).map { " \($0)" } ?? ""
    let ancestors = shown.map(\.merchant.frameAncestors) ?? []
    let policy = [
      "default-src 'none'", "script-src \(own)", "style-src \(own)", "connect-src \(own)", "img-src 'self'",
      "base-uri 'none'", "form-action 'self'\(back)",
      "frame-ancestors \(ancestors.isEmpty ? "'none'" : ancestors.joined(separator: " "))",
    ].joined(separator: "; ")
    return [
      .contentSecurityPolicy: policy, .cacheControl: "no-store", .contentType: "text/html; charset=utf-8",
      // The form that cancels has to name its origin; other sites still learn nothing of the address.
      .referrerPolicy: "same-origin", .permissionsPolicy: "payment=(self)",
    ]
  }
}

extension HTTPField.Name {
  package static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
  static let permissionsPolicy = HTTPField.Name("Permissions-Policy")!
}
