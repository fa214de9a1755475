import ApplePayToken
import Foundation
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer
import TokenVectors

/// OpenSSL and a reader in Python that shares no code with Tender verify the same payment tokens.
@Suite struct `Independent readers` {
  @Test func `agree about every conformance vector`() throws {
    let answer = try IndependentReader.python("run_vectors.py", [ConformanceVectors.directory], input: [])
    #expect(answer.status == 0, "\(answer.lines.joined(separator: "\n"))")
  }

  /// Why OpenSSL accepts what Tender refuses. What Tender accepts, both must accept.
  private static let reasons: [String: String] = [
    "malformed_signature": "OpenSSL reads the whole of BER, and versions and sets that it has no use for.",
    "malformed_certificate": "OpenSSL reads encodings of certificates that are not DER.",
    "certificate_count": "OpenSSL takes the certificates that it needs and leaves the others.",
    "forbidden_algorithm": "OpenSSL does not look at the list of digests.",
    "malformed_attributes": "OpenSSL writes the attributes anew, in DER's order, before it checks their signature.",
    "wrong_signer": "OpenSSL compares names without regard to case, spaces and kind of string; Tender byte by byte.",
    "unknown_key": "The key's hash is not signed.",
    "wrong_length": "The key's hash is not signed, and OpenSSL sees no lengths.",
    "bad_ephemeral_key": "OpenSSL sees one text, and no boundary between key and data.",
    "tag_mismatch": "OpenSSL does not decrypt.",
  ]

  /// 10,000 of them, in a debug build 600; or as many as `TENDER_MUTANTS` says (`make mutants`).
  @Test(arguments: [TokenVariant.Format.ellipticCurve, .rsa])
  func `agree about random mutants`(format: TokenVariant.Format) throws {
    let setup = try AttackSetup(format)
    let openers = try KeyLocation.allCases.map(setup.opener)
    var generator = SeededGenerator(seed: UInt64(Effort.number("TENDER_SEED") ?? 4))
    let originals = try (0..<4).map { number in
      let order = try setup.order(applicationData: number.isMultiple(of: 2) ? nil : [1])
      return try EncryptedPaymentToken(bytes: Array(setup.issuer().issue(order).text.utf8))
    }
    let mutants = (0..<(Effort.number("TENDER_MUTANTS") ?? Effort.mutants) / 2).map { number in
      // Every fiftieth is left alone, so that some tokens open.
      number.isMultiple(of: 50) ? originals[number / 50 % 4] : originals[number % 4].mutated(&generator)
    }
    let verdicts = try IndependentReader(setup).verdicts(mutants)
    #expect(verdicts.count == mutants.count)
    var opened = 0
    var disagreements: [String: Int] = [:]
    for (mutant, verdict) in zip(mutants, verdicts) {
      let refusal = openers[0].refusal(of: mutant)
      #expect(openers[1].refusal(of: mutant)?.code == refusal?.code, "an agent's key makes no difference")
      if refusal == nil {
        opened += 1
        #expect(verdict == IndependentReader.Verdict(openSSL: true, python: "opens"))
      } else if verdict.openSSL || verdict.python == "opens" {
        let code = refusal?.code.rawValue ?? ""
        disagreements[code, default: 0] += 1
        #expect(verdict.python != "opens" && Self.reasons[code] != nil, "\(code) while the readers say \(verdict)")
      }
    }
    if Effort.number("TENDER_MUTANTS") != nil {
      let counts = disagreements.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      print("mutants: \(mutants.count) runs, \(opened) opened by all; refused by Tender and not by OpenSSL: \(counts)")
    }
    #expect(opened >= mutants.count / 50)
  }
}

extension EncryptedPaymentToken {
  /// One random change, most often in the signature, whose grammar is the largest.
  fileprivate func mutated(_ generator: inout SeededGenerator) -> EncryptedPaymentToken {
    let fields = TokenField.allCases.filter { $0.bytes(of: self) != nil && $0.bytes(of: self)?.count != 32 }
    let fixed = TokenField.allCases.filter { $0.bytes(of: self)?.count == 32 }
    let choice = Int.random(in: 0..<10, using: &generator)
    let field =
      choice < 6 ? TokenField.signature : choice < 8 ? fields[choice % fields.count] : fixed[choice % fixed.count]
    return field.replacing(in: self) { bytes in
      Self.mutate(&bytes, keepsLength: fixed.contains(field), &generator)
    }
  }

  private static func mutate(_ bytes: inout [UInt8], keepsLength: Bool, _ generator: inout SeededGenerator) {
    let place = Int.random(in: bytes.indices, using: &generator)
    let other = Int.random(in: bytes.indices, using: &generator)
    let byte = UInt8.random(in: .min ... .max, using: &generator)
    switch Int.random(in: 0..<(keepsLength ? 3 : 7), using: &generator) {
    case 0: bytes[place] ^= 1 << (byte % 8)
    case 1: bytes[place] = byte
    case 2: bytes.swapAt(place, other)
    case 3: bytes.insert(byte, at: place)
    case 4: bytes.remove(at: place)
    case 5: bytes.removeSubrange(min(place, other)..<min(min(place, other) + 8, bytes.count))
    default: bytes.insert(contentsOf: bytes[min(place, other)..<max(place, other)].prefix(64), at: place)
    }
  }
}

/// OpenSSL and the reader in Python, as programs.
struct IndependentReader {
  struct Verdict: Equatable {
    let openSSL: Bool
    let python: String
  }

  private let directory: URL

  init(_ setup: AttackSetup) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let files = [
      "root.pem": try setup.pki.rootPEM, "merchant.key.pem": setup.key, "merchant": ConformanceVectors.merchant,
      "at": "\(AttackSetup.arrival.seconds)",
    ]
    for (name, text) in files { try Data(text.utf8).write(to: directory.appending(path: name)) }
  }

  func verdicts(_ tokens: [EncryptedPaymentToken]) throws -> [Verdict] {
    defer { try? FileManager.default.removeItem(at: directory) }
    let answer = try Self.python("verify_mutants.py", [directory.path], input: tokens.map(\.jsonText))
    try #require(answer.status == 0, "\(answer.lines.suffix(5))")
    return answer.lines.map { line in
      let words = line.split(separator: " ")
      return Verdict(openSSL: words.first == "yes", python: String(words.last ?? ""))
    }
  }

  static func python(_ script: String, _ arguments: [String], input: [String]) throws -> (
    status: Int32, lines: [String]
  ) {
    let arguments = ["/usr/bin/python3", "-W", "ignore", Repository.url("Tests/Judges/\(script)").path] + arguments
    let (status, output) = try ChildProcess.run(arguments, input: Array(input.map { $0 + "\n" }.joined().utf8))
    return (status, String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
  }
}

extension EncryptedPaymentToken {
  /// `paymentData`.
  fileprivate var jsonText: String {
    let key = version == .ecV1 ? "ephemeralPublicKey" : "wrappedKey"
    let application = applicationDataHash.map { #","applicationData":"\#(Hex.encode($0))""# } ?? ""
    return #"{"version":"\#(version.rawValue)","data":"\#(Base64.encode(data))","#
      + #""signature":"\#(Base64.encode(signature))","header":{"\#(key)":"\#(Base64.encode(keyMaterial.bytes))","#
      + #""publicKeyHash":"\#(Base64.encode(publicKeyHash))","transactionId":"\#(Hex.encode(transactionID))"\#(application)}}"#
  }
}
