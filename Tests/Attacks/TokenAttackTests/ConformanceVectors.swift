import Foundation
import TenderPayments
import TenderTesting

/// The kept conformance vectors: `Tests/Support/Vectors/apple-pay-token`.
enum ConformanceVectors {
  static let directory = Repository.url("Tests/Support/Vectors/apple-pay-token").path
  static let merchant = "merchant.test.tender"
}
