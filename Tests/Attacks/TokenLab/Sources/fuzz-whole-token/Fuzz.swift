import ApplePayToken
import Foundation
import TenderPayments
import TokenVectors

/// Mutants of whole tokens, by structure: the fuzzer's bytes are a list of edits to the fields of a good token. None
/// but the good token itself may open.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let edits = Array(UnsafeBufferPointer(start: start, count: count))
  let changed = Seed.shared.token.edited(edits)
  let opened = try? Seed.shared.opener.open(changed, for: Seed.merchant, at: Seed.shared.arrival)
  if let opened {
    // A second spelling, if there is one, spends the same token and says the same.
    guard opened.verified.use == TokenUse(of: Seed.shared.token), opened.verified.token.data == Seed.shared.token.data
    else { fatalError("a mutant opens") }
  }
  return 0
}

/// A good token, from the vectors in the directory that `TENDER_VECTORS` names.
private struct Seed {
  static let merchant = MerchantID("fuzz")
  let token: EncryptedPaymentToken
  let opener: TokenOpener
  let arrival: Timestamp

  static let shared: Seed = {
    do { return try Seed() } catch { fatalError("\(error)") }
  }()

  init() throws {
    let directory = ProcessInfo.processInfo.environment["TENDER_VECTORS"] ?? "."
    let library = try VectorLibrary(directory: directory)
    guard let vector = library.vector("application-data") else { fatalError("no vector") }
    token = try EncryptedPaymentToken(bytes: vector.token)
    arrival = vector.arrival
    opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: vector.root)),
      keys: ProcessingKeyRing([
        Self.merchant: [try ProcessingKey(privateKeyPEM: vector.key, merchantIdentifier: vector.merchant)]
      ]))
  }
}

extension EncryptedPaymentToken {
  /// Each edit takes five bytes: field and kind, place (two bytes), value, length.
  fileprivate func edited(_ edits: [UInt8]) -> EncryptedPaymentToken {
    var fields = [data, signature, keyMaterial.bytes, publicKeyHash, transactionID, applicationDataHash ?? []]
    for start in stride(from: 0, to: edits.count - 4, by: 5).prefix(8) {
      let edit = edits[start..<start + 5].map(Int.init)
      Self.apply(edit, to: &fields[edit[0] % fields.count])
    }
    return EncryptedPaymentToken(
      version: version, data: fields[0], signature: fields[1], keyMaterial: .ephemeralPublicKey(fields[2]),
      publicKeyHash: fields[3], transactionID: fields[4], applicationDataHash: fields[5])
  }

  private static func apply(_ edit: [Int], to field: inout [UInt8]) {
    guard !field.isEmpty else { return }
    let (place, value) = ((edit[1] << 8 | edit[2]) % field.count, UInt8(edit[3]))
    let end = min(field.count, place + edit[4])
    switch edit[0] / 6 % 5 {
    case 0: field[place] = value
    case 1: field[place] ^= value
    case 2: field.insert(value, at: place)
    case 3: field.removeSubrange(place..<end)
    default: field.insert(contentsOf: field[place..<end], at: place)
    }
  }
}
