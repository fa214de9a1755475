import SwiftASN1
import X509

/// The authorities as files: `token-root.pem` beside `token-root.key`, and so on.
extension SandboxPKI {
  static func load(from directory: StateDirectory, _ addresses: AuthorityAddresses) throws -> SandboxPKI? {
    guard let root = try directory.certifiedKey("token-root"),
      let intermediate = try directory.certifiedKey("token-intermediate"),
      let signer = try directory.certifiedKey("token-signer"),
      let relations = try directory.certifiedKey("developer-relations"),
      let tls = try directory.certifiedKey("tls-root")
    else { return nil }
    return SandboxPKI(
      tokenRoot: root, intermediate: intermediate, signer: signer, relations: relations, tls: tls,
      rsaSigner: RSATokenSigner(try directory.certifiedKey(RSATokenSigner.file), files: directory),
      addresses: addresses)
  }

  func save(to directory: StateDirectory) throws {
    try directory.write(tokenRoot, as: "token-root")
    try directory.write(tokenIntermediate, as: "token-intermediate")
    try directory.write(tokenSigner, as: "token-signer")
    try directory.write(developerRelations, as: "developer-relations")
    try directory.write(tlsRoot, as: "tls-root")
  }
}

extension StateDirectory {
  fileprivate func certifiedKey(_ name: String) throws -> CertifiedKey? {
    guard let certificate = try text("\(name).pem"), let key = try text("\(name).key") else { return nil }
    return CertifiedKey(
      certificate: try Certificate(pemEncoded: certificate), key: try Certificate.PrivateKey(pemEncoded: key))
  }

  func write(_ pair: CertifiedKey, as name: String) throws {
    try write(pair.certificate.serializeAsPEM().pemString + "\n", to: "\(name).pem")
    try write(pair.key.serializeAsPEM().pemString + "\n", to: "\(name).key", isPrivate: true)
  }
}
