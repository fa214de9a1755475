import TenderPayments

/// The form in which Apple writes a payment token's signature. Three are known; any other form that passes every check
/// is accepted too, also one with the root's certificate or with unsigned attributes.
public enum WireForm: Sendable, Hashable {
  /// Three signed attributes; SHA-256 with NULL for its parameters.
  case of2014
  /// Four signed attributes, the algorithms protected by RFC 6211; SHA-256 with NULL.
  case since2015
  /// Four signed attributes, the algorithms protected by RFC 6211; SHA-256 without parameters.
  case since2023
  /// Another, in words.
  case other(String)

  init(_ signed: SignedData, _ info: SignerInfo, _ attributes: SignedAttributes) {
    let isIndefinite = signed.encoding.dropFirst().first == 0x80
    let additions = Self.additions(signed, info)
    switch (isIndefinite && additions.isEmpty, attributes.count, info.digestAlgorithm.hasNull) {
    case (true, 3, true) where attributes.haveUsual: self = .of2014
    case (true, 4, true) where attributes.haveUsual && attributes.haveProtection: self = .since2015
    case (true, 4, false) where attributes.haveUsual && attributes.haveProtection: self = .since2023
    default:
      let lengths = isIndefinite ? "indefinite" : "definite"
      let digest = info.digestAlgorithm.hasNull ? "NULL" : "none"
      let usual = ["\(lengths) lengths", "digest parameters \(digest)", "attributes \(attributes.names)"]
      self = .other((usual + additions).joined(separator: "; "))
    }
  }

  /// What the signature does not cover and Apple does not send today. The words are fixed: whoever passes a token on can
  /// add these parts, and must not be able to make many forms of them.
  private static func additions(_ signed: SignedData, _ info: SignerInfo) -> [String] {
    (signed.certificates.count > 2 ? ["the root's certificate"] : [])
      + (info.hasUnsignedAttributes ? ["unsigned attributes"] : [])
  }
}

extension WireForm: CustomStringConvertible {
  public var description: String {
    switch self {
    case .of2014: "2014"
    case .since2015: "2015"
    case .since2023: "2023"
    case .other(let text): text
    }
  }
}

extension SignedAttributes {
  fileprivate var haveUsual: Bool {
    has(ObjectIdentifier.contentType) && has(ObjectIdentifier.signingTime) && has(ObjectIdentifier.messageDigest)
  }

  fileprivate var haveProtection: Bool { has(ObjectIdentifier.algorithmProtection) }
}
