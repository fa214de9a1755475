/// Apple Root CA - G3, the published trust anchor of Apple Pay.
///
/// Source: <https://www.apple.com/certificateauthority/>, file `AppleRootCA-G3.cer`. A test compares its SHA-256 with
/// the one that Apple publishes.
package enum AppleRoot {
  package static let pem = """
    -----BEGIN CERTIFICATE-----
    MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwS
    QXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9u
    IEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcN
    MTQwNDMwMTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBS
    b290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmljYXRpb24gQXV0aG9y
    aXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49
    AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtf
    TjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517
    IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySr
    MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gA
    MGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWTxnS4
    at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM
    6BgD56KyKA==
    -----END CERTIFICATE-----
    """

  /// The serial numbers of the signers that Apple is known to use, production and sandbox, EC and RSA. Only for
  /// ``SignerMonitor``: trust comes from the chain and its markers.
  static let knownSigners: Set<String> = [
    "429095e942086f8a", "2443f2a8069df577", "4c304149519d5436", "16634c8b0e305717", "59d8a1bcaaf4e3cd",
    "49a597d72be37ca2",
  ].reduce(into: []) { known, serial in
    // As in a certificate: a number whose first bit is set has a leading zero byte.
    known.insert(serial)
    known.insert("00" + serial)
  }

  /// SHA-256 of Apple Application Integration CA - G3, the only intermediate so far.
  static let knownIntermediate = "a64b099dbd73ebb036b4204e1675e8aa821637d09b84980899104ad59d664a3b"

  /// How the names of Apple's test signers end.
  static let sandboxSuffix = "-SANDBOX"
}
