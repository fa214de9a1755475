import TenderPayments
import TokenIssuer

// Platforms, and the merchants that they register by Apple's Web Merchant Registration API.
extension DeveloperPortal {
  /// How many domains a call may name, and a merchant may have.
  static let maximumDomains = 99

  /// Gives a merchant identifier the registration API.
  ///
  /// - Returns: the association file that every domain of its merchants serves, the same each time.
  func makePlatform(_ identifier: String) throws -> String {
    let text =
      #"{"pspId":"\#(MerchantHash(merchantIdentifier: identifier))","version":1,"createdOn":\#(clock.now().milliseconds),"#
      + #""issuer":"\#(SandboxName.organization)","nonce":"\#(random.hex(32))"}"#
    return try change(identifier) { merchant in
      let file = merchant.platformFile ?? Hex.encode(Array(text.utf8)).uppercased()
      merchant.platformFile = file
      return file
    }
  }

  func partner(_ name: String, of platform: String) -> PortalPartner? {
    try? merchant(platform).partners?.first { $0.identifier == name }
  }

  /// The partner with this name, at any platform.
  func partner(_ name: String) -> PortalPartner? {
    merchants.lazy.compactMap { $0.partners?.first { $0.identifier == name } }.first
  }

  /// Registers a merchant, or more domains of one.
  func keep(_ partner: PortalPartner, of platform: String) throws {
    try change(platform) { merchant in
      merchant.partners = (merchant.partners ?? []).filter { $0.identifier != partner.identifier } + [partner]
    }
  }

  /// Forgets a merchant.
  func removePartner(_ name: String, of platform: String) throws {
    try change(platform) { $0.partners?.removeAll { $0.identifier == name } }
  }
}

// Apple looks at a verified domain again 30, 15 and 7 days before the site's TLS certificate ends. The sandbox takes
// certificates of 90 days, which begin when the domain was verified last.
extension DeveloperPortal {
  /// After how many days of such a certificate the looks are, and at last its end.
  private static let looks: [Int64] = [60, 75, 83]
  private static let certificateDays: Int64 = 90

  /// The merchant after the looks that are due. A look that finds the file verifies the domain anew; when all have
  /// failed by the end of the certificate, the verification lapses.
  func lookingAgain(at merchant: PortalMerchant) async -> PortalMerchant {
    var merchant = merchant
    for (index, domain) in merchant.domains.enumerated() {
      guard let looked = await lookingAgain(at: domain) else { continue }
      merchant.domains[index] = looked
      _ = try? change(merchant.merchantIdentifier) { kept in
        for place in kept.domains.indices where kept.domains[place].associationFile == looked.associationFile {
          kept.domains[place] = looked
        }
      }
    }
    return merchant
  }

  /// - Returns: nil when nothing is due.
  private func lookingAgain(at domain: PortalDomain) async -> PortalDomain? {
    guard let verifiedAt = domain.verifiedAt else { return nil }
    let age = (clock.now().seconds - verifiedAt) / 86_400
    let (due, failed) = (Self.looks.count { age >= $0 }, domain.failedLooks ?? 0)
    var domain = domain
    if failed == Self.looks.count, age >= Self.certificateDays {
      domain.verifiedAt = nil
      return domain
    }
    guard due > failed else { return nil }
    if (try? await requireFile(of: domain)) != nil {
      (domain.verifiedAt, domain.failedLooks) = (clock.now().seconds, nil)
    } else {
      domain.failedLooks = due
      if age >= Self.certificateDays { domain.verifiedAt = nil }
    }
    return domain
  }
}
