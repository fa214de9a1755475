import TenderPayments

/// How Apple writes the signature of a payment token. It has done so in three forms; all are accepted, and so is any
/// other that passes every check.
public enum WireForm: Sendable, Hashable {
  /// Three signed attributes; SHA-256 with NULL for its parameters.
  case of2014
  /// Four signed attributes, the algorithms protected by RFC 6211; SHA-256 with NULL.
  case since2015
  /// The same, SHA-256 without parameters.
  case since2023
  /// Another, in words.
  case other(String)

  init(_ bytes: ArraySlice<UInt8>, _ info: SignerInfo, _ attributes: SignedAttributes) {
    let isIndefinite = bytes.dropFirst().first == 0x80
    switch (isIndefinite, attributes.isOf2014, attributes.isSince2015, info.digestAlgorithm.hasNull) {
    case (true, true, _, true): self = .of2014
    case (true, _, true, true): self = .since2015
    case (true, _, true, false): self = .since2023
    default:
      let lengths = isIndefinite ? "indefinite" : "definite"
      let digest = info.digestAlgorithm.hasNull ? "NULL" : "none"
      self = .other("\(lengths) lengths; digest parameters \(digest); attributes \(attributes.names)")
    }
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
  fileprivate var isOf2014: Bool { isExactly(Self.of2014) }
  fileprivate var isSince2015: Bool { isExactly(Self.since2015) }

  private static let of2014 = [
    ObjectIdentifier.contentType, ObjectIdentifier.signingTime, ObjectIdentifier.messageDigest,
  ]
  private static let since2015 = of2014 + [ObjectIdentifier.algorithmProtection]

  private func isExactly(_ identifiers: [[UInt8]]) -> Bool {
    count == identifiers.count && identifiers.allSatisfy { value($0) != nil }
  }
}
