import Foundation
package import TenderPayments

/// A conformance vector: one file, a header of `key: value` lines, an empty line, the payment token.
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
  package let expectation: Expectation
  /// When the token arrives.
  package let arrival: Timestamp
  /// The file with the merchant's private key.
  package let key: String
  /// Apple's merchant identifier.
  package let merchant: String
  /// What stands inside, if it opens.
  package let paymentData: String?
  /// The vector of which it is another spelling.
  package let spelling: String?
  package let token: [UInt8]

  package init(
    name: String, comment: String, expectation: Expectation, arrival: Timestamp, key: String, merchant: String,
    paymentData: String?, spelling: String?, token: [UInt8]
  ) {
    self.name = name
    self.comment = comment
    self.expectation = expectation
    self.arrival = arrival
    self.key = key
    self.merchant = merchant
    self.paymentData = paymentData
    self.spelling = spelling
    self.token = token
  }
}

extension TokenVector {
  /// - Throws: ``Malformed``.
  package init(name: String, text: String) throws {
    guard let empty = text.range(of: "\n\n") else { throw Malformed(name: name, what: "no empty line") }
    var header: [String: String] = [:]
    for line in text[..<empty.lowerBound].split(separator: "\n") {
      guard let colon = line.range(of: ": ") else { throw Malformed(name: name, what: "\(line)") }
      header[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
    }
    func value(_ key: String) throws -> String {
      guard let value = header[key] else { throw Malformed(name: name, what: "no \(key)") }
      return value
    }
    let body = text[empty.upperBound...].dropLast()
    let bytes = header["encoding"] == "base64" ? Base64.decode(String(body)) : Array(body.utf8)
    guard let bytes, let arrival = Timestamp(rfc3339: try value("at")) else {
      throw Malformed(name: name, what: "the body or the time")
    }
    self.init(
      name: name, comment: try value("comment"),
      expectation: try value("expect") == "opens"
        ? .opens : .refused(stage: value("stage"), code: value("code")),
      arrival: arrival, key: try value("key"), merchant: try value("merchant"), paymentData: header["payment-data"],
      spelling: header["same-as"], token: bytes)
  }

  package struct Malformed: Error {
    package let name: String
    package let what: String
  }
}
