import Foundation
import TenderSheet
import Testing

private let full = FullContact(
  givenName: "Aoife", familyName: "Byrne", phoneNumber: "+353 1 555 0100", emailAddress: "aoife@example.com",
  addressLines: ["1 North Quay"], locality: "Dublin", postalCode: "D01 X2Y3", countryCode: "ie")
private let card = FullContact(
  givenName: "A.", familyName: "Byrne", addressLines: ["7 Hill Road"], locality: "Cork", postalCode: "T12 AB34",
  countryCode: "IE")

@Suite struct `A contact` {
  @Test func `keeps only what the shopper has given`() throws {
    let sent = #"{"givenName":"A","phoneNumber":"1","emailAddress":"a@b.c","addressLines":["1"],"countryCode":"gb"}"#
    let contact = try JSONDecoder().decode(RedactedContact.self, from: Data(sent.utf8))
    #expect(contact == RedactedContact(countryCode: "GB"))
    #expect(String(decoding: try JSONEncoder().encode(contact), as: UTF8.self) == #"{"countryCode":"GB"}"#)
  }

  @Test func `has no control characters and no marks of the writing direction, and a line for each line`() throws {
    let sent = #"""
      {"givenName":"Ma\u0000ud\u200F","familyName":"Müller\tLee","phoneNumber":"\u202A+44 20 7946 0958\u202C",
      "addressLines":["12 Harbour Street\nFlat 3\r\n","\u2066Dock\u2069"],"locality":"Ros\r\nLáir","countryCode":"\u202Aie\u202C"}
      """#
    let contact = try JSONDecoder().decode(FullContact.self, from: Data(sent.utf8))
    #expect(contact.givenName == "Maud" && contact.familyName == "Müller Lee")
    #expect(contact.phoneNumber == "+44 20 7946 0958" && contact.countryCode == "IE" && contact.locality == "Ros Láir")
    #expect(contact.addressLines == ["12 Harbour Street", "Flat 3", "Dock"])
    // A joiner is a part of Indic and Persian names.
    #expect(FullContact(givenName: "می\u{200C}نا").givenName == "می\u{200C}نا")
  }

  @Test func `has texts of at most 256 Unicode scalars, whatever they look like, and at most 16 lines`() throws {
    func read(_ json: String) throws -> FullContact {
      try JSONDecoder().decode(FullContact.self, from: Data(json.utf8))
    }
    let (long, family) = (
      String(repeating: "\u{20BB7}", count: 256), String(repeating: "\u{1F468}\u{200D}", count: 200)
    )
    #expect(try read(#"{"givenName":"\#(long)"}"#).givenName == long)
    let lines = Array(repeating: #""a""#, count: 17).joined(separator: ",")
    for json in [
      #"{"givenName":"\#(long)a"}"#, #"{"emailAddress":"\#(family)"}"#, #"{"addressLines":["a","\#(long)a"]}"#,
      #"{"addressLines":[\#(lines)]}"#,
    ] {
      #expect(throws: DecodingError.self) { try read(json) }
    }
    for json in [
      #"{"couponCode":"\#(family)"}"#, #"{"shippingMethod":"\#(family)"}"#,
      #"{"shippingMethod":{"identifier":"\#(family)"}}"#, #"{"shippingContact":{"postalCode":"\#(family)"}}"#,
    ] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(SheetChange.self, from: Data(json.utf8)) }
    }
  }

  @Test func `has no empty texts and a country in capitals`() throws {
    let sent = #"{"givenName":" ","familyName":" Byrne ","addressLines":["","1 Quay "],"countryCode":"","country":"x"}"#
    let contact = try JSONDecoder().decode(FullContact.self, from: Data(sent.utf8))
    #expect(contact == FullContact(familyName: "Byrne", addressLines: ["1 Quay"], country: "x"))
    #expect(full.countryCode == "IE")
  }

  @Test func `survives being written and read again`() throws {
    #expect(try JSONDecoder().decode(FullContact.self, from: JSONEncoder().encode(full)) == full)
  }
}

@Suite struct `The contact of an order` {
  @Test func `for delivery is the shipping contact, regardless of billing`() {
    let contact = OrderContact(service: .delivery, shipping: full, billing: card, billingRequired: true)
    #expect(contact.givenName == "Aoife")
    #expect(contact.address?.lines == ["1 North Quay"])
    #expect(contact.phoneNumber == "+353 1 555 0100")
    #expect(contact.billing == card && contact.billingAddress(for: .delivery)?.lines == ["7 Hill Road"])
    let unasked = OrderContact(service: .delivery, shipping: full, billing: card, billingRequired: false)
    #expect(unasked.billing == nil && unasked.billingAddress(for: .delivery) == nil)
  }

  @Test func `for collection takes name and address from billing when that was asked for`() {
    let contact = OrderContact(service: .collection, shipping: full, billing: card, billingRequired: true)
    #expect(contact.givenName == "A.")
    #expect(contact.address?.lines == ["7 Hill Road"])
    #expect(contact.phoneNumber == "+353 1 555 0100")
    #expect(contact.emailAddress == "aoife@example.com")
  }

  @Test func `for collection falls back to shipping`() {
    let unasked = OrderContact(service: .collection, shipping: full, billing: card, billingRequired: false)
    let absent = OrderContact(service: .collection, shipping: full, billing: nil, billingRequired: true)
    let nameless = OrderContact(
      service: .collection, shipping: full, billing: FullContact(postalCode: "T12"), billingRequired: true)
    #expect(unasked.givenName == "Aoife" && unasked.address?.lines == ["1 North Quay"])
    #expect(absent.givenName == "Aoife")
    #expect(nameless.givenName == "Aoife" && nameless.address?.postalCode == "T12")
  }

  @Test(arguments: [
    (.noFulfillment, FullContact(), "name phoneNumber emailAddress"),
    (.servicePickup, FullContact(), "countryCode addressLines name phoneNumber emailAddress"),
    (ServiceType.delivery, FullContact(), "countryCode addressLines name phoneNumber emailAddress"),
    (.collection, FullContact(), "name phoneNumber emailAddress"), (.delivery, full, ""), (.collection, full, ""),
    (
      .shipping, FullContact(givenName: "A", phoneNumber: "1", emailAddress: "a@b", countryCode: "IE"),
      "addressLines locality"
    ),
    (
      .shipping,
      FullContact(
        givenName: "A", phoneNumber: "1", emailAddress: "a@b", addressLines: ["1"], locality: "Kowloon",
        countryCode: "HK"),
      ""
    ),
  ]) func `names each field that is missing`(_ service: ServiceType, _ contact: FullContact, _ fields: String) {
    let merged = OrderContact(service: service, shipping: contact, billing: nil, billingRequired: false)
    let missing = merged.missingFields(of: service.shippingFields())
    #expect(missing.compactMap { $0.contactField?.rawValue }.joined(separator: " ") == fields)
    #expect(missing.allSatisfy { $0.isAllowed(at: .payment) })
  }
}

@Suite struct `The contact fields of a basket` {
  private func missing(_ service: ServiceType, _ chosen: [ContactField]) -> String {
    let nobody = OrderContact(service: service, shipping: nil, billing: nil, billingRequired: false)
    return nobody.missingFields(of: service.shippingFields(chosen)).compactMap { $0.contactField?.rawValue }
      .joined(separator: " ")
  }

  @Test(
    arguments: [
      (.noFulfillment, [.email, .phone], "phoneNumber emailAddress"), (.collection, [.name], "name"),
      (.collection, [], ""), (.delivery, [], "countryCode addressLines"),
      (.collection, [.postalAddress], "countryCode addressLines"),
      (.collection, [.phoneticName, .name], "name phoneticName"),
    ] as [(ServiceType, [ContactField], String)])
  func `are required, and no others`(_ service: ServiceType, _ chosen: [ContactField], _ fields: String) {
    #expect(missing(service, chosen) == fields)
  }

  @Test func `are complete with a phonetic name`() {
    let contact = FullContact(givenName: "花子", phoneticGivenName: "はなこ")
    let merged = OrderContact(service: .collection, shipping: contact, billing: nil, billingRequired: false)
    #expect(merged.missingFields(of: [.name, .phoneticName]).isEmpty)
    #expect(merged.phoneticGivenName == "はなこ")
  }
}

@Suite struct `A sheet error` {
  @Test func `may point at these fields while the contact is redacted`() {
    let visible = ErrorContactField.allCases.filter {
      SheetError.shippingContactInvalid($0, "").isAllowed(at: .contactSelection)
    }
    #expect(
      visible == [
        .postalAddress, .locality, .subLocality, .postalCode, .administrativeArea, .subAdministrativeArea, .country,
        .countryCode,
      ])
  }

  @Test func `may point at every field once the payment is authorized, but billing has no phone and no e-mail`() {
    for field in ErrorContactField.allCases {
      #expect(SheetError.shippingContactInvalid(field, "").isAllowed(at: .payment))
      let isBilling = field != .phoneNumber && field != .emailAddress
      #expect(SheetError.billingContactInvalid(field, "").isAllowed(at: .payment) == isBilling)
      #expect(!SheetError.billingContactInvalid(field, "").isAllowed(at: .contactSelection))
    }
  }

  @Test(arguments: [
    (SheetError.addressUnserviceable(""), [SheetMoment.contactSelection, .payment]),
    (.couponCodeInvalid(""), [.couponCodeChange]), (.couponCodeExpired(""), [.couponCodeChange]),
    (.unknown(""), SheetMoment.allCases), (.shippingContactInvalid(nil, ""), [.contactSelection, .payment]),
    (.billingContactInvalid(nil, ""), [.payment]),
  ]) func `belongs to its moments`(_ error: SheetError, _ moments: [SheetMoment]) {
    #expect(SheetMoment.allCases.filter { error.isAllowed(at: $0) } == moments)
  }

  @Test(arguments: [
    SheetError.shippingContactInvalid(.postalCode, "a"), .billingContactInvalid(nil, "b"), .addressUnserviceable("c"),
    .couponCodeInvalid("d"), .couponCodeExpired("e"), .unknown("f"),
  ]) func `survives being written and read again`(_ error: SheetError) throws {
    #expect(try JSONDecoder().decode(SheetError.self, from: JSONEncoder().encode(error)) == error)
  }
}

/// A prefix, a code, and what is known while redacted and when full.
struct PostalRow: Sendable {
  let prefix: String
  let country: String
  let redacted: String
  let full: String
  let seen: PostalPrefix.Match
  let known: PostalPrefix.Match

  init(
    _ prefix: String, _ country: String, _ redacted: String, _ full: String, _ seen: PostalPrefix.Match,
    _ known: PostalPrefix.Match
  ) {
    (self.prefix, self.country, self.redacted, self.full, self.seen, self.known) =
      (prefix, country, redacted, full, seen, known)
  }

  static let all = [
    PostalRow("SW1A", "GB", "SW1A", "SW1A 1AA", .yes, .yes), PostalRow("sw1a", "GB", "SW1A ", "sw1a1aa", .yes, .yes),
    PostalRow("SW1A 1", "GB", "SW1A", "SW1A 1AA", .maybe, .yes),
    PostalRow("SW1A 2", "GB", "SW1A", "SW1A 1AA", .maybe, .no),
    PostalRow("SW1A2", "GB", "SW1A", "SW1A 1AA", .maybe, .no),
    PostalRow("E1", "GB", "E10", "E10 6AB", .yes, .yes), PostalRow("E1 ", "GB", "E10", "E10 6AB", .no, .no),
    PostalRow("E1 ", "GB", "E1", "E1 6AB", .yes, .yes), PostalRow("E1 6", "GB", "E1", "E16 1AA", .maybe, .no),
    PostalRow("K1A", "CA", "K1A", "K1A 0B1", .yes, .yes), PostalRow("K1A 0B", "CA", "K1A", "K1A0B1", .maybe, .yes),
    PostalRow("K1B", "CA", "K1A", "K1A 0B1", .no, .no), PostalRow("V", "CA", "V6B", "V6B 4Y8", .yes, .yes),
    PostalRow("100", "JP", "100-0001", "100-0001", .yes, .yes),
    PostalRow("100-00", "JP", "1000001", "1000001", .yes, .yes),
    PostalRow("101", "JP", "100-0001", "100-0001", .no, .no),
    PostalRow("150", "JP", "１５０−０００１", "１５０−０００１", .yes, .yes),
    PostalRow("１５０", "JP", "150-0001", "150-0001", .yes, .yes), PostalRow("117", "IR", "۱۱۷۳۱", "۱۱۷۳۱", .yes, .yes),
    PostalRow("SW1A", "GB", "ＳＷ１Ａ", "ＳＷ１Ａ\u{3000}１ＡＡ", .yes, .yes),
    PostalRow("941", "US", "94105", "94105-1234", .yes, .yes),
    PostalRow("94105-12", "US", "94105", "94105-1234", .maybe, .yes),
    PostalRow("94105-13", "US", "94105", "94105-1234", .maybe, .no), PostalRow("10", "US", "94105", "94105", .no, .no),
    PostalRow("D01", "IE", "D01 X2Y3", "D01X2Y3", .yes, .yes), PostalRow("D01", "IE", "", "", .maybe, .no),
  ]
}

@Suite struct `A postal prefix` {
  @Test(arguments: PostalRow.all) func `matches what may still be hidden`(_ row: PostalRow) {
    let prefix = PostalPrefix(row.prefix)
    #expect(prefix.matches(.redacted(row.redacted, country: row.country)) == row.seen)
    #expect(prefix.matches(.full(row.full, country: row.country)) == row.known)
  }
}
