import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import MerchantIdentity
import Storage
import TenderPayments
import TenderServer

/// `tender certificate`
struct CertificateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certificate",
    abstract: "Apple's certificates of the merchants, and the keys that open payment tokens.",
    subcommands: [
      Request.self, Import.self, List.self, Activate.self, Retire.self, Export.self, Keys.self, RetireKey.self,
    ])

  struct Request: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "request",
      abstract: "Makes a key and prints the request to upload in the developer account. The key stays in the store.")
    @Argument(help: "The merchant's id.") var merchant: String
    @Option(help: "identity or processing.") var kind: CertificateKind
    @Flag(help: "For mainland China, where processing keys are RSA.") var mainlandChina = false
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let call = MerchantCall.requestCertificate(merchant: merchant, kind: kind, isMainlandChina: mainlandChina)
      guard let row = try await store.ask(call).certificates?.first else { return }
      guard !store.json else { return Terminal.say(try Terminal.json(row)) }
      Terminal.say((row.request ?? "").trimmingCharacters(in: .newlines))
      Terminal.sayError(
        "Next: upload it in the developer account, then `tender certificate import FILE --merchant \(merchant)"
          + "\(store.place.words)`")
    }
  }

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Takes Apple's answer in DER, PEM, PKCS #7 or PKCS #12, and finds the key that it belongs to.",
      discussion:
        "The first certificate of its kind is active at once; another waits for `tender certificate activate`.")
    @Argument(help: "apple_pay.cer, merchant_id.cer, or what a keychain or OpenSSL made of them.") var file: String
    @Option(help: "The merchant's id.") var merchant: String
    @Option(help: "Refuse another kind than identity or processing.") var kind: CertificateKind?
    @Option(help: "A file with the passphrase, for PKCS #12.") var passphraseFile: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let read = try read()
      let call = MerchantCall.importCertificate(
        merchant: merchant, kind: kind, certificatesBase64: read.certificates.map { Base64.encode($0) },
        privateKeyPEM: read.privateKeyPEM)
      try store.show(try await store.ask(call).certificates)
    }

    private func read() throws -> CertificateFile {
      let bytes = try NamedFile.bytes(file)
      guard let passphraseFile else {
        let read = CertificateFile(bytes)
        guard read.certificates.isEmpty, CertificateFile.isPKCS12(bytes) else { return read }
        throw MistakenCall(
          "\(file) is PKCS #12, which a passphrase opens: write it into a file that only you may read, and name that with "
            + "--passphrase-file")
      }
      return try CertificateFile(pkcs12: bytes, passphrase: try Passphrase.read(passphraseFile))
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Certificates and open requests, with states, the days that are left and serial numbers.")
    @Option(help: "One merchant alone.") var merchant: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws { try store.show(try await store.ask(.listCertificates(merchant: merchant)).certificates) }
  }

  struct Activate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "activate",
      abstract: "Takes a certificate into use, after it was activated in the developer account.",
      discussion: "The one before it is draining: payment tokens for its key still open.")
    @Argument(help: "The certificate's id.") var id: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws { try store.show(try await store.ask(.activateCertificate(id: id)).certificates) }
  }

  struct Retire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retire",
      abstract: "Ends a certificate and deletes its key, unless a payment token for it could still arrive.")
    @Argument(help: "The certificate's id.") var id: String
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws { try store.show(try await store.ask(.retireCertificate(id: id)).certificates) }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Prints a certificate, or writes it with its key as PKCS #12.",
      discussion: "The key leaves the store by --pkcs12 alone, under the passphrase.")
    @Argument(help: "The certificate's id.") var id: String
    @Option(help: "The file to write, with the key.") var pkcs12: String?
    @Option(help: "A file with the passphrase, for PKCS #12.") var passphraseFile: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      guard (pkcs12 == nil) == (passphraseFile == nil) else {
        throw MistakenCall("--pkcs12 and --passphrase-file belong together")
      }
      let answer = try await store.ask(.exportCertificate(id: id, withKey: pkcs12 != nil))
      guard let pem = answer.certificates?.first?.certificate else {
        throw CallFailure("\(id) is a request; Apple has not answered it")
      }
      guard let pkcs12, let passphraseFile else { return Terminal.say(pem.trimmingCharacters(in: .newlines)) }
      guard let key = answer.privateKeyPEM else { throw CallFailure("the key of \(id) is not in the store") }
      let bytes = try CertificateFile.pkcs12(
        certificatePEM: pem, privateKeyPEM: key, passphrase: try Passphrase.read(passphraseFile))
      try await FolderOwner.asOwner(besides: pkcs12) {
        guard
          FileManager.default.createFile(atPath: pkcs12, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw CallFailure("cannot write \(pkcs12)") }
      }
      Terminal.say(pkcs12)
    }
  }
}

/// A passphrase in a file that only its owner may read.
private enum Passphrase {
  static func read(_ path: String) throws -> String {
    try PrivateFile.text(path).trimmingCharacters(in: .newlines)
  }
}

extension CertificateKind: ExpressibleByArgument {}

extension MerchantStoreOptions {
  fileprivate func show(_ certificates: [StoredCertificateReport]?) throws {
    try show(certificates, "certificate") {
      Table("CERTIFICATE", "MERCHANT", "KIND", "KEY", "STATE", "EXPIRES", "DAYS LEFT", "SERIAL NUMBER", of: $0) { row in
        [
          row.id, row.merchant, row.kind.rawValue, row.algorithm.rawValue, row.state.rawValue, row.expires ?? "-",
          row.daysLeft.map { "\($0)" } ?? "-", row.serialNumber ?? "-",
        ]
      }
    }
  }
}
