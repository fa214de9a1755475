import StrictJSON

/// What Apple's gateway is asked: a session for this merchant, in this place.
package struct MerchantSessionRequest: Sendable, Hashable {
  package enum Initiative: String, Sendable, Hashable {
    /// A web page; the context is its domain.
    case web
    /// A macOS or Mac Catalyst app; the context is the developer's team.
    case inApp = "in_app"
  }

  package let merchant: MerchantIdentifier
  package let displayName: DisplayName
  package let initiative: Initiative
  package let initiativeContext: String

  package static func web(_ domain: Domain, of merchant: MerchantIdentifier, named name: DisplayName) -> Self {
    Self(merchant: merchant, displayName: name, initiative: .web, initiativeContext: domain.host)
  }

  package static func app(_ team: TeamIdentifier, of merchant: MerchantIdentifier, named name: DisplayName) -> Self {
    Self(merchant: merchant, displayName: name, initiative: .inApp, initiativeContext: team.text)
  }

  /// The request for a merchant that a platform has registered.
  package func naming(_ partner: PartnerMerchant) -> Self {
    Self(
      merchant: MerchantIdentifier(partner), displayName: displayName, initiative: initiative,
      initiativeContext: initiativeContext)
  }

  /// The body of the call, JSON.
  var body: [UInt8] {
    let members = [
      ("merchantIdentifier", merchant.text), ("displayName", displayName.text), ("initiative", initiative.rawValue),
      ("initiativeContext", initiativeContext),
    ]
    let texts = members.map { name, value in
      JSONValue.string(name).serialized() + Array(":".utf8) + JSONValue.string(value).serialized()
    }
    return Array("{".utf8) + texts.joined(separator: Array(",".utf8)) + Array("}".utf8)
  }
}

/// Apple's answer: for one payment, for five minutes, for the page that asked.
///
/// It is opaque. The page must get it byte for byte, so nothing of it is read here but that it is a JSON object.
package struct MerchantSession: Sendable, Hashable {
  /// Sessions of about 5 KB are usual.
  static let maximumBytes = 65_536

  /// The JSON object as Apple sent it.
  package let json: [UInt8]

  /// Nil unless the bytes are one JSON object of acceptable size.
  package init?(json: [UInt8]) {
    guard json.count <= Self.maximumBytes, case .object? = try? JSONReader.read(json) else { return nil }
    self.json = json
  }
}

extension MerchantSession: CustomStringConvertible, CustomReflectable {
  package var description: String { "merchant session of \(json.count) bytes" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
