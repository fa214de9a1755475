import StrictJSON
package import TenderPayments

/// A conformance vector: a payment token, and what a reader has to make of it.
///
/// `Tests/Support/Vectors/apple-pay-token/README.md` describes the format for everybody who has a reader to test.
package struct TokenVector: Sendable {
  package enum Expectation: Sendable, Hashable {
    case opens
    /// At this stage; Tender's own code is for Tender alone.
    case refused(stage: String, code: String)
  }

  package let name: String
  package let comment: String
  package let flags: [String]
  package let expectation: Expectation
  /// When the token arrives.
  package let arrival: Timestamp
  /// The merchant's private key, in PEM.
  package let key: String
  /// Apple's merchant identifier.
  package let merchant: String
  /// The root to trust, in PEM.
  package let root: String
  /// What stands inside, if it opens.
  package let paymentData: String?
  /// The vector of which it is another spelling.
  package let spelling: String?
  package let token: [UInt8]
}

extension TokenVector {
  /// - Parameters:
  ///   - test: a member of `tests`.
  ///   - group: the member of `testGroups` that it is in.
  /// - Throws: `JSONError`, ``Malformed``.
  init(_ test: JSONField, in group: JSONField) throws {
    name = try test.member("name").string
    comment = try test.member("comment").string
    flags = try test.member("flags").array.map { try $0.string }
    let isInvalid = try test.member("result").string == "invalid"
    expectation =
      isInvalid ? .refused(stage: try test.member("stage").string, code: try test.member("code").string) : .opens
    (key, root) = (try group.member("privateKey").string, try group.member("root").string)
    merchant = try group.member("merchantIdentifier").string
    paymentData = try test.memberIfPresent("paymentData")?.string
    spelling = try test.memberIfPresent("sameAs")?.string
    guard let arrival = Timestamp(rfc3339: try test.member("at").string),
      let token = Base64.decode(try test.member("token").string)
    else { throw Malformed(name: name) }
    (self.arrival, self.token) = (arrival, token)
  }

  package struct Malformed: Error {
    package let name: String
  }
}
