import ApplePayToken
import CApplePayToken
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenCalls
import TokenVectors

/// A result as a C program holds it, which is freed with its last owner, and not while a call reads it.
private final class Result {
  private let pointer: UnsafeMutablePointer<apt_result>
  init(_ pointer: UnsafeMutablePointer<apt_result>?) throws { self.pointer = try #require(pointer) }
  deinit { apt_free(pointer) }

  var stage: Int { Int(pointer.pointee.stage) }

  func lend<Answer>(_ call: (UnsafePointer<apt_result>) -> Answer) -> Answer {
    withExtendedLifetime(self) { call(pointer) }
  }

  var answer: JSONValue {
    get throws {
      let text = UnsafeRawBufferPointer(start: pointer.pointee.json, count: pointer.pointee.length)
      #expect(pointer.pointee.json[text.count] == 0)
      return try JSONReader.read(Array(text))
    }
  }
}

@Suite struct `The C interface` {
  private let vector: TokenVector
  private let keys: Result

  init() throws {
    vector = try CallFixtures.vector("application-data")
    let settings = CallFixtures.settings(vector)
    keys = try Result(apt_open(settings, settings.count))
    #expect(keys.stage == APT_DONE)
  }

  private func decrypt(_ vector: TokenVector, at seconds: Int64? = nil) throws -> Result {
    try Result(keys.lend { apt_decrypt($0, vector.token, vector.token.count, seconds ?? vector.arrival.seconds) })
  }

  private func spend(_ payment: Result) throws -> Result {
    try Result(keys.lend { keys in payment.lend { apt_spend(keys, $0) } })
  }

  @Test func `opens a payment token, confirms it, and spends it once`() throws {
    let payment = try decrypt(vector)
    #expect(payment.stage == APT_DONE)
    #expect(
      String(decoding: try #require(try payment.answer["paymentData"]).serialized(), as: UTF8.self)
        == vector.paymentData)
    let hash = Hex.encode(try #require(try EncryptedPaymentToken(bytes: vector.token).applicationDataHash))
    for (units, stage) in [(1250, APT_DONE), (1251, APT_ORDER)] {
      let expected = Array(#"{"amount": \#(units), "currency": "EUR", "applicationDataHash": "\#(hash)"}"#.utf8)
      #expect(try Result(payment.lend { apt_confirm($0, expected, expected.count) }).stage == stage)
    }
    #expect(try spend(payment).stage == APT_DONE)
    let again = try spend(try decrypt(vector))
    #expect(try again.stage == APT_REPLAY && again.answer["code"] == "token_already_used")
  }

  @Test func `has the numbers of the stages, their codes, reasons and advice`() throws {
    let stages: [PaymentTokenError.Stage: Int] = [
      .format: APT_FORMAT, .certificates: APT_CERTIFICATES, .chain: APT_CHAIN, .signature: APT_SIGNATURE,
      .signingTime: APT_SIGNING_TIME, .key: APT_KEY, .unwrap: APT_UNWRAP, .decrypt: APT_DECRYPT, .payload: APT_PAYLOAD,
    ]
    for vector in try CallFixtures.library.get().vectors where vector.key == self.vector.key {
      guard case .refused(let stage, let code) = vector.expectation else { continue }
      let refused = try decrypt(vector)
      let answer = try refused.answer
      #expect(PaymentTokenError.Stage(rawValue: stage).flatMap { stages[$0] } == refused.stage, "\(vector.name)")
      #expect(answer["code"]?.text == code && answer["reason"] != nil && answer["advice"] != nil, "\(vector.name)")
    }
  }

  @Test func `inspects and verifies without a key`() throws {
    let inspection = try Result(apt_inspect(vector.token, vector.token.count))
    #expect(try inspection.stage == APT_DONE && inspection.answer["version"] == "EC_v1")
    let none = try Result(apt_open("{}", 2))
    let verified = try Result(none.lend { apt_verify($0, vector.token, vector.token.count, vector.arrival.seconds) })
    #expect(try verified.stage == APT_CHAIN && verified.answer["code"] == "untrusted_root")
  }

  @Test func `takes the machine's clock where no time is given`() throws {
    #expect(try decrypt(vector, at: .min).answer["code"] == "too_old")
  }

  @Test func `refuses what is no keys and no token, NULL and nothing`() throws {
    let payment = try decrypt(vector)
    let wrong = try [
      Result(apt_decrypt(nil, vector.token, vector.token.count, 0)),
      Result(payment.lend { apt_decrypt($0, vector.token, 1, 0) }), Result(apt_verify(nil, nil, 0, 0)),
      Result(keys.lend { apt_spend($0, $0) }), Result(payment.lend { apt_spend($0, $0) }),
      Result(keys.lend { apt_spend($0, nil) }),
      Result(keys.lend { apt_confirm($0, "{}", 2) }), Result(apt_confirm(nil, nil, 0)),
    ]
    for refused in wrong { #expect(try refused.stage == APT_CALL && refused.answer["code"] == "wrong_handle") }
    let malformed = try [
      Result(apt_open(nil, 5)), Result(apt_open(nil, 0)), Result(payment.lend { apt_confirm($0, nil, 3) }),
    ]
    for refused in malformed { #expect(refused.stage == APT_CALL) }
    #expect(try Result(apt_inspect(nil, 0)).answer["code"] == "empty_payment_data")
    apt_free(nil)
  }

  @Test func `has the version of the product`() throws {
    let version = String(cString: try #require(apt_version()))
    #expect(try Repository.text("Sources/CommandLine/CommandSupport/Version.swift").contains("\"\(version)\""))
  }
}
