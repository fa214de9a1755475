package import HTTPTypes
package import MerchantIdentity

/// Which scopes of an API key allow a call of the platform API: any of them is enough, and none is needed for what says
/// nothing of the merchant.
package enum RequiredScopes {
  /// - Parameter path: as it arrived, `/v2/{merchantId}/…`.
  package static func of(_ method: HTTPRequest.Method, _ path: String) -> Set<APIKeyScope> {
    let names = path.split(separator: "/").dropFirst(2)
    let isReading = method == .get || method == .head
    return isReading ? reading(names.first) : writing(names.first, names.last)
  }

  private static func reading(_ resource: Substring?) -> Set<APIKeyScope> {
    switch resource {
    case "services": []
    case "baskets", "guests": [.baskets, .read]
    case "payments", "events": [.payments, .refunds, .read]
    case "products": [.baskets, .payments, .read]
    default: [.payments, .read]
    }
  }

  private static func writing(_ resource: Substring?, _ verb: Substring?) -> Set<APIKeyScope> {
    switch (resource, verb) {
    case ("baskets", _), ("guests", _): [.baskets]
    case ("payments", "refund"): [.refunds]
    default: [.payments]
    }
  }
}
