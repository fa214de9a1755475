import Acquiring
import Crypto
import Foundation
import Gateway
import Ledger
import MerchantIdentity
package import Orders
package import Storage
import TenderPayments

extension MerchantFolder {
  /// The part of the merchant's configuration that pricing needs.
  package var terms: MerchantTerms {
    var terms = MerchantTerms(
      supportedNetworks: profile.networks, merchantCapabilities: profile.capabilities,
      merchantCategory: profile.sale.merchantCategory,
      contactFields: profile.contactFields, lines: profile.lines, locale: profile.locale,
      callbackSigner: callbackSigner, callbackHosts: profile.callbackHosts, basketSource: profile.basketSource,
      platformDomain: platformDomains.first)
    terms.addressCheck = profile.addressCheck
    terms.refusal = availability.refusal
    return terms
  }
}

/// The file with the key that signs guest tokens.
package enum GuestTokenKey {
  /// - Throws: when others can read it, or it is no P-256 key in PEM.
  package static func check(_ path: String) throws {
    let pem = try MerchantFolder.secretText(path)
    guard (try? P256.Signing.PrivateKey(pemRepresentation: pem)) != nil else {
      throw ConfigurationError(path, "holds no P-256 private key in PEM; remove it, and the server makes one")
    }
  }
}

extension GuestTokenIssuer {
  package static func open(_ configuration: ServerConfiguration, _ database: Database) async throws
    -> GuestTokenIssuer
  {
    try await GuestTokenIssuer(
      privateKeyPEM: try privateKey(configuration.guestTokenKeyFile), issuer: configuration.publicURL,
      database: database)
  }

  /// The key that signs guest tokens, made at the first start.
  private static func privateKey(_ path: String) throws -> String {
    if !FileManager.default.fileExists(atPath: path) {
      try PrivateFile.writeFirst(P256.Signing.PrivateKey().pemRepresentation, to: path)
    }
    return try MerchantFolder.secretText(path)
  }
}
