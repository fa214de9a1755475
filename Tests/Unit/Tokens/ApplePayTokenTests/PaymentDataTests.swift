import ApplePayToken
import Crypto
import Foundation
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

@Suite(.everyKeyHolder) struct `Payment data` {
  private func open(_ old: String = "", _ new: String = "") throws -> PaymentData {
    var builder = try TestTokenBuilder()
    builder.plaintext = Array(TestTokenBuilder.payload.replacing(old, with: new).utf8)
    return try builder.build().open().paymentData
  }

  private func code(_ old: String, _ new: String) throws -> PaymentTokenError.Code? {
    try #require(TestTokenBuilder.payload.contains(old))
    return try refusal { try open(old, new) }
  }

  @Test(
    arguments: [("1250", 1250), ("0", 0), ("1250.0", 1250), ("7.00", 7), ("9223372036854775807", Int64.max)]
      as [(String, Int64)])
  func `an amount is a whole number of minor units`(text: String, units: Int64) throws {
    #expect(try open("1250", text).amount.minorUnits == units)
  }

  @Test(arguments: ["12.5", "-1", "1e3", "9223372036854775808", "\"1250\"", "null", "true", "1250.01", "-0.0e0"])
  func `any other amount is refused`(text: String) throws {
    #expect(try code("1250", text) == .badAmount)
  }

  @Test func `currencies are ISO 4217's numbers with their zeros`() throws {
    #expect(try open("978", "036").currency.code == "AUD")
    #expect(try open("978", "392").amount.description == "1250 JPY")
    for text in ["36", "0978", "000", "999", "XXX", ""] {
      #expect(try code("978", text) == .unknownCurrency)
    }
    #expect(try code("\"978\"", "978") == .badPayload)
  }

  @Test func `what is missing or malformed is refused`() throws {
    #expect(try code("\"4817499130011223\"", "\"48174991300\"") == .badPayload)
    #expect(try code("\"4817499130011223\"", "4817499130011223") == .badPayload)
    #expect(try code("\"291231\"", "\"291331\"") == .badPayload)
    #expect(try code("\"3DSecure\"", "\"3dsecure\"") == .badPayload)
    #expect(try code("onlinePaymentCryptogram", "cryptogram") == .badPayload)
    #expect(try code("AgAAAAAAAIR8CQrXcIhbQAAAAAA=", "") == .badPayload)
    #expect(
      try code("\"currencyCode\":\"978\",", "\"currencyCode\":\"978\",\"currencyCode\":\"978\",") == .payloadNotJSON)
    #expect(try code("}}", "}") == .payloadNotJSON)
  }

  @Test func `an indicator that was not delivered is not invented`() throws {
    #expect(try open(",\"eciIndicator\":\"07\"", "").networkToken.eci == nil)
    #expect(try open("\"07\"", "\"5\"").networkToken.eci == "5")
  }

  private let chip = #""paymentData":{"emvData":"nyYI2kNVfNEUOWQ="}"#
  private let threeDSecure =
    #""paymentData":{"onlinePaymentCryptogram":"AgAAAAAAAIR8CQrXcIhbQAAAAAA=","eciIndicator":"07"}"#

  private func openEMV(_ old: String = "", _ new: String = "") throws -> PaymentData {
    let text = TestTokenBuilder.payload.replacing("3DSecure", with: "EMV").replacing(threeDSecure, with: chip)
    var builder = try TestTokenBuilder()
    builder.plaintext = Array(text.replacing(old, with: new).utf8)
    return try builder.build().open().paymentData
  }

  @Test func `EMV data is passed on and is no network token`() throws {
    let data = try openEMV()
    guard case .emv(let answer) = data.credential else {
      Issue.record("no EMV data")
      return
    }
    #expect(answer.revealed == Base64.decode("nyYI2kNVfNEUOWQ="))
    #expect(answer.revealedEncryptedPIN == nil)
    #expect(data.amount.minorUnits == 1250 && data.dpan.lastFour == "1223" && data.expiry.yymm == "2912")
    #expect(try refusal { try data.networkToken } == .unsupportedPaymentData)
    #expect("\(answer)" == "EMVData(•••)")
  }

  @Test func `an encrypted PIN comes along, in hexadecimal`() throws {
    let data = try openEMV(#""emvData""#, #""encryptedPINData":"04A1B2","emvData""#)
    guard case .emv(let answer) = data.credential else {
      Issue.record("no EMV data")
      return
    }
    #expect(answer.revealedEncryptedPIN == "04A1B2")
    #expect(try refusal { try openEMV(#""emvData""#, #""encryptedPINData":"04x","emvData""#) } == .badPayload)
  }

  @Test func `EMV data that is missing, empty or no base64 is refused`() throws {
    for change in ["", "not base64", "-_==", "nyYI2kNVfNEUOWQ"] {
      #expect(try refusal { try openEMV("nyYI2kNVfNEUOWQ=", change) } == .badPayload)
    }
    #expect(try refusal { try openEMV("emvData", "emv") } == .badPayload)
  }

  @Test func `each of several merchants gets its own response`() throws {
    let responses = #"""
      "authenticationResponses":[{"merchantIdentifier":"merchant.a","authenticationData":"AAAA","transactionAmount":"7.50"},
      {"merchantIdentifier":"merchant.b","authenticationData":"AAAB","transactionAmount":"5.00","new":1}],"paymentData"
      """#
    let data = try open("\"paymentData\"", responses)
    #expect(data.authenticationResponses.map(\.merchantIdentifier) == ["merchant.a", "merchant.b"])
    #expect(data.authenticationResponses.map(\.transactionAmount) == ["7.50", "5.00"])
    #expect(data.authenticationResponses.map(\.cryptogram.revealed) == ["AAAA", "AAAB"])
    #expect(try open().authenticationResponses.isEmpty)
    #expect(try code("\"paymentData\"", "\"authenticationResponses\":{},\"paymentData\"") == .badPayload)
    #expect(try code("\"paymentData\"", "\"authenticationResponses\":[{}],\"paymentData\"") == .badPayload)
    let many =
      "\"authenticationResponses\":[\(Array(repeating: "1", count: 65).joined(separator: ","))],\"paymentData\""
    #expect(try code("\"paymentData\"", many) == .badPayload)
  }

  @Test func `a merchant token brings its identifier and its metadata`() throws {
    let data = try open(
      "\"paymentData\"",
      #""merchantTokenIdentifier":"DM4MMC1","merchantTokenMetadata":{"cardMetadata":{"expirationDate":"2912"}},"paymentData""#
    )
    #expect(data.merchantTokenIdentifier == "DM4MMC1")
    #expect(data.merchantTokenMetadata?["cardMetadata"]?["expirationDate"] == "2912")
    #expect(try open().merchantTokenMetadata == nil)
    #expect(try code("\"paymentData\"", "\"merchantTokenMetadata\":1,\"paymentData\"") == .badPayload)
  }

  @Test func `the cardholder and the device manufacturer are read`() throws {
    let data = try open("\"currencyCode\"", "\"cardholderName\":\"ADA\",\"currencyCode\"")
    #expect(data.cardholderName == "ADA" && data.deviceManufacturerIdentifier == "040010030273")
    #expect(!String(decoding: data.masked.serialized(), as: UTF8.self).contains("ADA"))
  }

  @Test func `unknown keys are kept and masked`() throws {
    let data = try open("\"currencyCode\"", "\"aNewKey\":{\"inner\":[\"4817499130011223\",7]},\"currencyCode\"")
    #expect(data.revealed["aNewKey"] == ["inner": ["4817499130011223", 7]])
    let masked = String(decoding: data.masked.serialized(), as: UTF8.self)
    #expect(!masked.contains("481749913001"))
    #expect(!masked.contains("AgAAAAAAAIR8"))
    #expect(masked.contains("•••• 1223") && masked.contains("\"transactionAmount\":1250"))
  }

  @Test func `neither descriptions nor errors hold card data`() throws {
    let opened = try TestTokenBuilder().build().open()
    var texts = ["\(opened)", String(reflecting: opened), "\(opened.paymentData)"]
    var dumped = ""
    dump(opened, to: &dumped)
    texts.append(dumped)
    for change in [("1223\"", "1223x\""), ("}}", "}"), ("291231", "29x231"), ("AgAAAAAAAIR8", "\\q")] {
      do {
        _ = try open(change.0, change.1)
      } catch {
        texts.append("\(error)")
      }
    }
    #expect(texts.count >= 7)
    for text in texts { #expect(!text.contains("481749913001") && !text.contains("AgAAAAAAAIR8")) }
  }
}

@Suite(.everyKeyHolder) struct `Errors` {
  @Test func `each code has a stage, advice and a paragraph in the manual`() throws {
    let manual = try Repository.text("docs/errors.md")
    let section = try #require(manual.split(separator: "## Payment tokens\n").last)
    for code in PaymentTokenError.Code.allCases {
      #expect(!code.advice.isEmpty)
      #expect(section.contains("**`\(code.rawValue)`**"), "\(code.rawValue) has no paragraph")
      #expect(section.contains("### Stage `\(code.stage.rawValue)`"))
    }
  }

  @Test func `a refusal says where, what and what to do`() {
    let error = PaymentTokenError(.tagMismatch, "the tag is wrong", field: "data")
    #expect("\(error)" == "decrypt: the tag is wrong (data) [tag_mismatch]")
    #expect(error.advice.contains("merchant identifier"))
  }
}

@Suite(.everyKeyHolder) struct `Inspecting a payment token` {
  @Test func `shows the token's claims without verification`() throws {
    var builder = try TestTokenBuilder()
    builder.impostor = .p256(.init())
    let inspection = TokenInspection(try builder.build().token())
    #expect(inspection.signingTime == builder.signingTime)
    #expect(inspection.certificates.map(\.hasSignerMarker) == [true, false])
    #expect(inspection.certificates.map(\.hasIntermediateMarker) == [false, true])
    #expect(inspection.certificates.first?.commonName == "NOT APPLE broker-sign_UC4-PROD")
    #expect(inspection.problem?.code == .invalidSignature)
  }

  @Test func `says what is wrong with a signature that cannot be read`() throws {
    var parts = try TestTokenBuilder().build()
    parts.signature.removeLast()
    #expect(TokenInspection(try parts.token()).problem?.code == .malformedSignature)
  }
}
