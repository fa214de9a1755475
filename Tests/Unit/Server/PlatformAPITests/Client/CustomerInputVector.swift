import Foundation
import StrictJSON
import TenderPayments
import TenderTesting

/// `Tests/Support/Vectors/customer-input.json`
struct CustomerInputVector: Decodable {
  /// PKCS #8, PEM.
  let privateKey: String
  let keyId: String
  let publicKey: String
  let clientSessionId: String
  let customerId: String
  let paymentData: String
  let transactionIdentifier: String
  /// In hexadecimal, in the order in which the kits ask for them.
  let random: String
  let plaintext: String
  let madeByJwcrypto: String
  let madeByKits: String

  static func read() throws -> CustomerInputVector {
    let data = try Data(contentsOf: Repository.url("Tests/Support/Vectors/customer-input.json"))
    return try StrictJSONDecoder().decode(CustomerInputVector.self, from: Array(data))
  }
}
