package import DirectWire
package import TenderPayments
package import TenderSheet

/// What the operator has configured of a merchant, as far as its baskets need it.
package struct MerchantTerms: Sendable {
  package var supportedNetworks: [CardNetwork]
  package var merchantCapabilities: [MerchantCapability]
  /// ISO 18245, four digits; nil where the operator names none.
  package var merchantCategory: String?
  /// What the sheets of its baskets ask for, unless a basket chooses its fields.
  package var contactFields: [ContactField]
  /// How the sheets of its baskets list the goods, unless a basket says.
  package var lines: BasketDocument.Lines
  /// Whether the addresses of its baskets go by their countries' rules, unless a basket says.
  package var addressCheck = BasketDocument.AddressCheck.country
  /// The language tag of its shoppers, unless a basket names another; nil for English.
  package var locale: String?
  /// Signs the calls to the merchant's own `quoteURL`; nil when the merchant may not have one.
  package var callbackSigner: RequestSigner?
  /// The hosts that such a URL may name, with the port if it is not the scheme's own: `shop.example:8443`.
  package var callbackHosts: Set<String>
  /// Where baskets that a page names and that are not here are fetched; nil where every basket is sent.
  package var basketSource: String?
  /// The domain that the merchant's payment tokens name, where devices encrypt to a platform's key; nil where they
  /// encrypt to a key of the merchant's own.
  package var platformDomain: String?
  /// Where Apple reports about the merchant tokens of its agreements; nil where nothing listens.
  package var tokenNotificationURL: String?
  /// Why the merchant takes no payments at a moment; nil when it does.
  package var refusal: @Sendable (Timestamp) -> OrderError.Code? = { _ in nil }

  package init(
    supportedNetworks: [CardNetwork] = [.visa, .masterCard, .amex],
    merchantCapabilities: [MerchantCapability] = [.supports3DS], merchantCategory: String? = nil,
    contactFields: [ContactField] = ContactField.usual, lines: BasketDocument.Lines = .items, locale: String? = nil,
    callbackSigner: RequestSigner? = nil,
    callbackHosts: Set<String> = [], basketSource: String? = nil, platformDomain: String? = nil
  ) {
    self.supportedNetworks = supportedNetworks
    self.merchantCapabilities = merchantCapabilities
    self.merchantCategory = merchantCategory
    self.contactFields = contactFields
    self.lines = lines
    self.locale = locale
    self.callbackSigner = callbackSigner
    self.callbackHosts = callbackHosts
    self.basketSource = basketSource
    self.platformDomain = platformDomain
  }
}

extension MerchantTerms {
  /// What the payment request carries and the signed payment token repeats as a hash.
  ///
  /// A platform's key says nothing about the merchant, so the domain has to; it is what Apple asks of platforms. It ties
  /// the token to the merchant and not to the basket, which only a key of the merchant's own leaves room for. On the
  /// platform's own page the domain is everybody's, so there the basket itself is named, and with it its merchant.
  func applicationData(of basket: Basket) -> [UInt8] {
    guard !basket.isHosted else { return basket.applicationData }
    return platformDomain.map { Array($0.utf8) } ?? basket.applicationData
  }
}

extension MerchantTerms {
  /// The document with the merchant's own defaults in the place of what it leaves open. They are fixed with the basket,
  /// so that a change of the configuration does not change a sheet that is open.
  func completing(_ document: BasketDocument) -> BasketDocument {
    var document = document
    document.contactFields = document.contactFields ?? contactFields.map(\.rawValue)
    document.lines = document.lines ?? lines
    document.addressCheck = document.addressCheck ?? addressCheck
    document.locale = document.locale ?? locale
    return document
  }
}

extension MerchantTerms {
  /// A basket may send prices only to a host that the operator allows: otherwise a merchant's key would be a way to
  /// make this server call anything that it can reach.
  func check(quoteURL text: String?) throws {
    guard text == nil || callback(to: text) != nil else {
      throw OrderError(.basketInvalid, "quoteURL must be https, at a host allowed to the merchant", field: "quoteURL")
    }
  }

  /// The URL and the signer of a call to it; nil unless the operator allows its host now. Asked when the basket comes
  /// and again before every call, because the configuration may have changed in between.
  func callback(to text: String?) -> (url: CallbackURL, signer: RequestSigner)? {
    guard let signer = callbackSigner, let url = text.flatMap(CallbackURL.init), callbackHosts.contains(url.authority)
    else { return nil }
    return (url, signer)
  }
}

extension MerchantTerms {
  /// Whether a text may be a `basketSource`: `https`, or `http` on this machine, and no query.
  package static func isBasketSource(_ text: String) -> Bool {
    CallbackURL(text) != nil && !text.utf8.contains(UInt8(ascii: "?"))
  }

  /// Where the basket is fetched, and the signer of the call; nil where none is. The operator names the address, so it
  /// needs no allowed host.
  func basketURL(of id: BasketID) -> (url: CallbackURL, signer: RequestSigner)? {
    guard let signer = callbackSigner, let source = basketSource,
      let url = CallbackURL((source.hasSuffix("/") ? source : source + "/") + id.rawValue)
    else { return nil }
    return (url, signer)
  }
}

/// A URL that the server may call, and the two parts of it that a signed call needs.
struct CallbackURL {
  let text: String
  /// Host and port, in small letters.
  let authority: String
  /// Path and query, never empty.
  let target: String

  /// `https`, or `http` on this machine. No user, no fragment.
  ///
  /// Printable ASCII alone, without a backslash: of anything else two readers may see two hosts, and a separator with
  /// a combining mark after it is another `Character`.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }),
      let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
    else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.isEmpty, !rest.contains("#"), !authority.contains("@") else { return nil }
    let isHere = authority.split(separator: ":").first.map { ["127.0.0.1", "localhost"].contains($0) } ?? false
    guard scheme == "https://" || isHere else { return nil }
    let target = rest.dropFirst(authority.count)
    self.text = text
    self.authority = authority.lowercased()
    self.target = target.hasPrefix("/") ? String(target) : "/" + target
  }
}
