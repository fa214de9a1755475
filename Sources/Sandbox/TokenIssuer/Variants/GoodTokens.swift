import ApplePayToken
import Crypto
import StrictJSON
import TenderPayments

/// Payment tokens that must open.
extension TokenVariant {
  static let goodElliptic: [TokenVariant] = [
    .opens("ec-v1", "An ordinary token: signed attributes as Apple has written them from 2015 to about 2021."),
    .opens("ec-v1-2014", "Apple's first form: no cmsAlgorithmProtection among the signed attributes.") {
      $0.form = .withoutAlgorithmProtection
    },
    .opens("ec-v1-2023", "Apple's newest form: SHA-256's identifier without NULL.") { $0.form = .withoutNull },
    .opens("application-data", "The request had application data, whose hash is signed too.") {
      $0.applicationDataHash = $0.random.next(32)
    }.decidingApplicationData(),
    .opens("secret-leading-zero", "The shared secret begins with a zero byte, as one in 256 does: it is 32 bytes long.")
    {
      try $0.drawKey { try $0.secretOfRecipient()[0] == 0 }
    },
    .opens("coordinate-leading-zero", "The ephemeral key's X begins with a zero byte, which an encoding keeps.") {
      try $0.drawKey { $0.encryption.ephemeralKey.publicKey.rawRepresentation.first == 0 }
    },
    .opens("signed-five-minutes-ago", "The window is five minutes, its last second included.").arriving(.seconds(300)),
    .opens("signed-in-five-minutes", "The signer's clock may be ahead as far as it may be behind.")
      .arriving(.seconds(-300)),
    .opens("signer-in-its-last-second", "Dates are compared with the signing time, their last second included.") {
      let time = $0.signingTime
      $0.signer { $0.notAfter = time }
    },
    .opens("signer-in-its-first-second", "Dates are compared with the signing time, their first second included.") {
      let time = $0.signingTime
      $0.signer { $0.notBefore = time }
    },
    .opens("certificates-with-root", "The trusted root comes along, byte for byte; it changes nothing.") {
      let root = $0.authority.root
      $0.signature { $0.certificates.append(root) }
    },
    .opens("cms-unsigned-attributes", "Unsigned attributes, which anyone can add and a reader ignores.") {
      $0.signature {
        $0.afterValue = BERWriter.definite(0xA1, BERWriter.definite(0x30, DEROID.pkcs(9, 16), [0x31, 0]))
      }
    },
    .opens("unknown-attribute", "An unknown signed attribute: Apple may add one.") {
      $0.signature {
        $0.attributes.append(.init(type: DEROID.pkcs(9, 16), values: [DEROID.null]))
        $0.sort()
      }
    },
    .opens("unknown-extension", "An extension that is not critical may be unknown.") {
      $0.signer { $0.extensions.append(.init(identifier: DEROID.apple(7, 1), isCritical: false, value: DEROID.null)) }
    },
    .opens("marker-with-value", "Of Apple's markers only the presence counts, whatever their value.") {
      $0.signer {
        $0.replace(.signerMarker, with: .init(identifier: DEROID.apple(6, 29), isCritical: false, value: []))
      }
    },
    .opens("unlimited-intermediate", "An intermediate without a path length, as Apple's own.") {
      $0.intermediate { $0.set(.basicConstraints(isAuthority: true)) }
    },
    .opens("emv", "EMV data in place of a 3-D Secure cryptogram.") { $0.becomeEMV() },
    .opens("no-eci", "Mastercard habitually adds no ECI; none is invented.") {
      $0.payload["paymentData"] = ["onlinePaymentCryptogram": "AMwBRjPWDnAgAA7Rls7mAoABFA=="]
    },
    .opens("long-cryptogram", "American Express may answer with 40 bytes.") {
      let bytes = $0.random.next(40)
      $0.payload["paymentData"] = ["onlinePaymentCryptogram": .string(Base64.encode(bytes)), "eciIndicator": "05"]
    },
    .opens("cardholder-name", "The name of the card's holder, with letters beyond ASCII.") {
      $0.payload["cardholderName"] = "Zoë Sandström 砂"
    },
    .opens("merchant-token", "A merchant token was issued, with its identifier and metadata.") {
      $0.payload["merchantTokenIdentifier"] = "DSB-2f6a0000000000000001"
      $0.payload["merchantTokenMetadata"] = [
        "cardArt": [["name": "card-art-1x", "url": "https://example.com/card.png"]],
        "cardMetadata": ["fpanSuffix": "0492", "expirationDate": "2031-12"],
      ]
    },
    .opens("authentication-responses", "A payment to several merchants: a cryptogram for each.") {
      $0.payload["authenticationResponses"] = [
        [
          "merchantIdentifier": "merchant.test.first", "authenticationData": "AgAAAAAAAIR8CQrXcIhbQAAAAAA=",
          "transactionAmount": "750",
        ],
        [
          "merchantIdentifier": "merchant.test.second", "authenticationData": "AgAAAAAAAIR8CQrXcIhbQAAAAAE=",
          "transactionAmount": "500",
        ],
      ]
    },
    .opens("unknown-payment-data-key", "Unknown keys are kept: Apple may add some.") {
      $0.payload["somethingNew"] = ["nested": [true, .null, "text"]]
    },
    .opens("unknown-token-key", "The same around the payload: what is not signed is not looked at.") {
      $0.document {
        $0["somethingNew"] = "text"
        $0.header { $0["somethingElse"] = 1 }
      }
    },
    .opens("amount-zero", "A pending total is signed as 0.") { $0.payload["transactionAmount"] = 0 },
    .opens("amount-with-zero-fraction", "Apple's table says only “number”: 1250.00 is 1250.") {
      $0.payload["transactionAmount"] = .number("1250.00")
    },
    .opens("currency-leading-zero", "Numeric codes keep their zeros: 036 is the Australian dollar.") {
      $0.payload["currencyCode"] = "036"
    },
    .opens("currency-without-decimals", "Yen: the minor unit is the yen.") { $0.payload["currencyCode"] = "392" },
    .opens("currency-with-three-decimals", "Kuwaiti dinar: a thousand minor units.") {
      $0.payload["currencyCode"] = "414"
    },
  ]

  static let goodRSA: [TokenVariant] = [
    .opens("rsa-v1", "RSA_v1: the key is wrapped, and the signer has an RSA key below the elliptic intermediate."),
    .opens("rsa-v1-2014", "RSA_v1 in Apple's first form.") { $0.form = .withoutAlgorithmProtection },
    .opens("rsa-v1-2023", "RSA_v1 in Apple's newest form: no NULL for SHA-256, and still one for RSA.") {
      $0.form = .withoutNull
    },
    .opens("rsa-application-data", "RSA_v1 with application data.") { $0.applicationDataHash = $0.random.next(32) }
      .decidingApplicationData(),
    .opens("rsa-wrapped-leading-zero", "The wrapped key begins with a zero byte, which is part of it.") { builder in
      guard case .rsa(let key) = builder.recipient.key else { return }
      var wrapped = try builder.encryption.wrapped(to: key.key)
      while wrapped[0] != 0 { wrapped = try builder.encryption.wrapped(to: key.key) }
      let found = wrapped
      builder.content { $0.keyMaterial = found }
    },
    .opens("rsa-emv", "RSA_v1 with EMV data and an encrypted PIN, as cards of mainland China answer.") {
      $0.becomeEMV()
      let pin = Hex.encode($0.random.next(8))
      guard case .object(var answer)? = $0.payload["paymentData"] else { return }
      answer["encryptedPINData"] = .string(pin)
      $0.payload["paymentData"] = .object(answer)
      $0.payload["currencyCode"] = "156"
    },
  ]

  /// One token written in several ways, of which one may be spent.
  static let spellings: [TokenVariant] = [
    .opens("spelling-white-space", "White space between the members.", as: "ec-v1") {
      $0.text { $0.flatMap { $0 == UInt8(ascii: ",") ? Array(" ,\r\n\t".utf8) : [$0] } }
    },
    .opens("spelling-escaped-slashes", "Base64's slashes escaped, as PHP writes JSON.", as: "ec-v1") {
      $0.text { $0.flatMap { $0 == UInt8(ascii: "/") ? Array(#"\/"#.utf8) : [$0] } }
    },
    .opens("spelling-capitals", "The transaction identifier in capitals.", as: "ec-v1") {
      $0.document { $0.header { $0.editText("transactionId") { $0.uppercased() } } }
    },
    .opens("spelling-other-order", "The members in another order.", as: "ec-v1") {
      $0.document { document in
        document = JSONObject(document.members.reversed())
        document.header { $0 = JSONObject($0.members.reversed()) }
      }
    },
    .opens("spelling-web-token", "The whole ApplePayPaymentToken of a page.", as: "ec-v1") {
      $0.text {
        Array(#"{"paymentMethod":{"displayName":"Visa 0492","network":"Visa","type":"debit"},"#.utf8)
          + Array(#""transactionIdentifier":"00","paymentData":"#.utf8) + $0 + [UInt8(ascii: "}")]
      }
    },
    .opens("spelling-definite-lengths", "The signature's outer layers in DER's definite lengths.", as: "ec-v1") {
      $0.signature { $0.hasIndefiniteLengths = false }
    },
    .opens("spelling-certificates-swapped", "The intermediate before the signer: a set has no order.", as: "ec-v1") {
      $0.signature { $0.certificates.reverse() }
    },
    .opens("spelling-second-signature", "ECDSA's other solution, n − s in place of s.", as: "ec-v1") {
      $0.signature { $0.editValue = ECDSAValue.negated }
    },
    .opens("spelling-null-application-data", "A null where the token has no application data.", as: "ec-v1") {
      $0.document { $0.header { $0["applicationData"] = .null } }
    }.decidingApplicationData(),
  ]
}
