import DirectWire
import StrictJSON
import TenderPayments
import Testing

/// The bodies of Worldline Direct's payments, read and written.
@Suite struct `The wire of a payment` {
  private let request = #"""
    {"order":{"amountOfMoney":{"amount":1250,"currencyCode":"EUR"},"references":{"merchantReference":"R1"},"surchargeSpecificInput":{"mode":"on-behalf-of"}},
    "cardPaymentMethodSpecificInput":null,
    "mobilePaymentMethodSpecificInput":{"paymentProductId":302,"authorizationMode":"SALE",
    "decryptedPaymentData":{"dpan":"4761739000000012","expiryDate":"1231","cryptogram":"AgAA","eci":"07","cardholderName":"A"}}}
    """#

  private func read(_ text: String) throws -> CreatePaymentRequest {
    try DirectJSON.read(CreatePaymentRequest.self, Array(text.utf8))
  }

  @Test func `a request of an SDK is read, and what is not about Apple Pay is ignored`() throws {
    let read = try read(request)
    let input = try #require(read.mobilePaymentMethodSpecificInput)
    #expect(read.order.amountOfMoney.value?.minorUnits == 1250 && input.authorizationMode == .sale)
    let card = try #require(input.decryptedPaymentData?.card)
    #expect(card.expiry.yymm == "3112" && card.eci == "07" && card.dpan.lastFour == "0012")
  }

  @Test(arguments: [
    ("1250", "12.50", "order.amountOfMoney.amount"), ("1250", "\"1250\"", "order.amountOfMoney.amount"),
    ("\"SALE\"", "\"sale\"", "mobilePaymentMethodSpecificInput.authorizationMode"),
    ("\"1231\"", "\"1331\"", "mobilePaymentMethodSpecificInput.decryptedPaymentData.expiryDate"),
    ("\"1231\"", "1231", "mobilePaymentMethodSpecificInput.decryptedPaymentData.expiryDate"),
    ("4761739000000012", "47617390", "mobilePaymentMethodSpecificInput.decryptedPaymentData.dpan"),
    ("AgAA", "", "mobilePaymentMethodSpecificInput.decryptedPaymentData.cryptogram"),
    ("AgAA", "***", "mobilePaymentMethodSpecificInput.decryptedPaymentData.cryptogram"),
    ("\"07\"", "\"seven\"", "mobilePaymentMethodSpecificInput.decryptedPaymentData.eci"),
    ("\"paymentProductId\":302,", "", "mobilePaymentMethodSpecificInput.paymentProductId"),
  ])
  func `what is wrong is named by its path`(right: String, wrong: String, path: String) throws {
    let error = #expect(throws: JSONError.self) { try read(request.replacing(right, with: wrong)) }
    #expect(error?.path == "$." + path)
  }

  @Test(arguments: [("\"07\"", "7"), ("\"07\"", "\"7\""), ("\"07\"", "5")])
  func `the indicator is a number or a text, and written as a number`(right: String, wrong: String) throws {
    let card = try #require(
      try read(request.replacing(right, with: wrong)).mobilePaymentMethodSpecificInput?.decryptedPaymentData)
    let written = try JSONReader.read(try DirectJSON.bytes(card))
    #expect(written["eci"] == .integer(try #require(Int64(wrong.filter(\.isNumber)))))
    #expect(written["expiryDate"] == "1231" && written["cardholderName"] == "A")
  }

  @Test func `a network token on the wire prints masked`() throws {
    let read = try read(request)
    #expect(!"\(read)".contains("4761739000000012") && !"\(read)".contains("AgAA"))
    var dumped = ""
    dump(read, to: &dumped)
    #expect(!dumped.contains("4761739000000012") && !dumped.contains("AgAA"))
  }

  @Test(arguments: [
    (#""AAEC""#, EncryptedPaymentData.data("AAEC")), (#""{\"version\":\"EC_v1\"}""#, .token(["version": "EC_v1"])),
    (#"{"version":"EC_v1"}"#, .token(["version": "EC_v1"])),
  ])
  func `encrypted data comes alone, as a text of JSON, or as an object`(
    text: String, data: EncryptedPaymentData
  ) throws {
    let body = #"{"paymentProductId":302,"encryptedPaymentData":\#(text)}"#
    let read = try DirectJSON.read(MobilePaymentInput.self, Array(body.utf8))
    #expect(read.encryptedPaymentData == data)
    let again = try DirectJSON.read(MobilePaymentInput.self, try DirectJSON.bytes(read))
    #expect(again.encryptedPaymentData == data && !"\(read)".contains("AAEC"))
  }

  @Test func `a state's words follow its number`() {
    let states = DirectStatus.allCases.map { "\($0.rawValue) \($0.word) \($0.category)" }
    for known in [
      "0 CREATED CREATED", "1 CANCELLED UNSUCCESSFUL", "2 REJECTED UNSUCCESSFUL", "5 PENDING_CAPTURE PENDING_MERCHANT",
      "6 CANCELLED UNSUCCESSFUL", "8 REFUNDED REFUNDED", "9 CAPTURED COMPLETED", "46 REDIRECTED PENDING_PAYMENT",
      "51 AUTHORIZATION_REQUESTED PENDING_CONNECT_OR_3RD_PARTY",
      "52 AUTHORIZATION_REQUESTED PENDING_CONNECT_OR_3RD_PARTY", "61 CANCELLED PENDING_MERCHANT",
      "81 REFUND_REQUESTED PENDING_CONNECT_OR_3RD_PARTY", "83 REJECTED UNSUCCESSFUL",
      "91 CAPTURE_REQUESTED PENDING_CONNECT_OR_3RD_PARTY", "93 REJECTED_CAPTURE UNSUCCESSFUL",
    ] {
      #expect(states.contains(known), "\(known)")
    }
  }

  @Test(arguments: ["3254564310_0", "3254564310_12", "00000a-b_1"])
  func `the name of an operation has its payment's`(text: String) throws {
    let name = try #require(DirectPaymentID(text))
    #expect(name.description == text && name.authorization.description == "\(name.payment)_0")
  }

  @Test func `a payment's name alone is its authorization's, and what could change an address is no name`() {
    #expect(DirectPaymentID("3254564310") == DirectPaymentID(payment: "3254564310"))
    for text in ["", "_1", "1_", "1_2_3", "1_x", "a/b", "../1", "é", "1_00000", String(repeating: "1", count: 65)] {
      #expect(DirectPaymentID(text) == nil, "\(text)")
    }
  }

  @Test func `an answer sets the members of both SDKs`() throws {
    let references = DirectReferences(merchantReference: "C1")
    let name = DirectPaymentID(payment: "3254564310", operation: 1)
    let amount = Amount(minorUnits: 500, currency: try #require(Currency(code: "EUR")))
    let time = Timestamp(seconds: 1_700_000_000)
    let output = DirectPaymentOutput(
      amountOfMoney: amount, acquiredAmount: amount, references: references, operationReferences: references)
    let capture = try JSONReader.read(try DirectJSON.bytes(DirectCapture(id: name, .captureRequested, output)))
    #expect(capture["statusOutput"] == ["statusCode": 91] && capture["status"] == "CAPTURE_REQUESTED")
    #expect(capture["captureOutput"]?["amountPaid"] == 500 && capture["captureOutput"]?["paymentMethod"] == "mobile")
    #expect(capture["captureOutput"]?["operationReferences"] == capture["captureOutput"]?["references"])
    let status = DirectStatusOutput(.captured, changedAt: time)
    let payment = DirectPayment(
      id: name, statusOutput: status, paymentOutput: output,
      operations: [DirectOperation(id: name, amount, status, references: references, at: time)])
    let details = try JSONReader.read(try DirectJSON.bytes(payment))
    #expect(details["Operations"] != nil && details["statusOutput"]?["statusCodeChangeDateTime"] == "20231114221320")
    #expect(try DirectJSON.read(DirectPayment.self, try DirectJSON.bytes(payment)) == payment)
  }

  @Test func `an error is read with either code, and carries the payment that was refused`() throws {
    let old = try DirectJSON.read(
      PlatformError.self, Array(#"{"errorId":"e","errors":[{"code":"1002"}]}"#.utf8))
    #expect(old.errors.map(\.errorCode) == ["1002"] && old.status == 0 && old.errors[0].retriable == false)
    #expect(throws: JSONError.self) {
      try DirectJSON.read(PlatformError.self, Array(#"{"errorId":"e","errors":[{"id":"X"}]}"#.utf8))
    }
    var error = PlatformError(errorId: "e", .refused(errorCode: "30511001"))
    let amount = Amount(minorUnits: 500, currency: try #require(Currency(code: "EUR")))
    error.paymentResult = CreatePaymentAnswer(
      DirectPayment(
        id: DirectPaymentID(payment: "1"), statusOutput: DirectStatusOutput(.rejected),
        paymentOutput: DirectPaymentOutput(amountOfMoney: amount)))
    #expect(try DirectJSON.read(PlatformError.self, try DirectJSON.bytes(error)) == error && error.status == 402)
  }

  @Test func `a webhook has the signature that the SDK's helper computes`() throws {
    let body =
      #"{"apiVersion":"v1","created":"2026-01-01T00:00:00.0000000+00:00","id":"0e3ce18a-3e5d-4c77-999e-f20ddb5ec6f9","merchantId":"m1","payment":{"id":"4000000001_0","status":"CAPTURED"},"type":"payment.captured"}"#
    let signer = WebhookSignature(secret: "webhook-secret")
    #expect(signer.signature(of: Array(body.utf8)) == "FtBz+STrWdmQatTFHpdfO58xKrMv2LVfYdQoVTSWi3M=")
    #expect(signer.signature(of: []) == "EAHFJLU1qK73bBTzPIUapKWG6YJTIyMZmQuo4r5GS6k=")
    #expect(signer.isValid("EAHFJLU1qK73bBTzPIUapKWG6YJTIyMZmQuo4r5GS6k=", for: []))
    #expect(!signer.isValid("EAHFJLU1qK73bBTzPIUapKWG6YJTIyMZmQuo4r5GS6k=", for: [0]) && !signer.isValid("", for: []))
  }

  @Test(arguments: [("R1", true), ("", false), ("two words", false), ("é", false)])
  func `a key has 1 to 40 visible characters`(key: String, isKey: Bool) {
    #expect(Idempotence.isKey(key) == isKey)
    #expect(Idempotence.isKey(String(repeating: "k", count: 40)))
    #expect(!Idempotence.isKey(String(repeating: "k", count: 41)))
  }
}
