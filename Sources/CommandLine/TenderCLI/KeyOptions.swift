import ApplePayToken
import ArgumentParser
import CommandSupport
import Storage

/// The private keys of payment processing certificates, as files.
struct KeyOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A private key of the payment processing certificate; may be repeated.", valueName: "pem"))
  var key: [String] = []

  @Option(help: ArgumentHelp("The payment processing certificate; may be repeated, one a key.", valueName: "file"))
  var certificate: [String] = []

  @Option(help: ArgumentHelp("Apple's merchant identifier, instead of a certificate.", valueName: "id"))
  var merchantId: String?

  /// Whether it is known which merchant the keys are of.
  var namesMerchant: Bool { certificate.isEmpty != (merchantId == nil) }

  /// - Parameter privateKey: reads the file of a private key.
  func keys(_ privateKey: (String) throws -> String = NamedFile.privateKey) throws -> [ProcessingKey] {
    let certificates = try certificate.map(NamedFile.certificate)
    return try key.map { path in
      let pem = try privateKey(path)
      guard let merchantId else { return try ProcessingKey(privateKeyPEM: pem, certificatePEMs: certificates) }
      return try ProcessingKey(privateKeyPEM: pem, merchantIdentifier: merchantId)
    }
  }
}
