import Administration
import TenderPayments

extension DoctorCheck {
  static let keyRingGroup = [keyHashUnique, keyLoaded, keyActive]

  static let keyHashUnique = DoctorCheck(
    "key_hash_unique", "No two processing certificates have the same key.",
    meaning: "A payment token names its key by the hash: with two the wrong merchant may be charged.",
    remedy: "Make a new key and request for one of the two; a renewal has a key of its own too.")
  static let keyLoaded = DoctorCheck(
    "key_loaded", "The running server has loaded the key of every processing certificate.",
    meaning: "Payment tokens for the new key are refused as unknown_key.", remedy: "tender reload")
  static let keyActive = DoctorCheck(
    "key_active", "One key of each kind is active: Apple encrypts to it.",
    meaning: "The server does not know which certificate Apple uses.",
    remedy: "Activate a certificate in Apple's portal; its first payment token makes its key active here.")
}

extension Doctor {
  func keyRingFindings() -> [DoctorFinding] { uniqueHashes() + loadedKeys() + activeKeys() }

  private var processing: [(owner: String, certificate: ExaminedCertificate)] {
    subject.platform.map { ("", $0) }
      + subject.merchants.flatMap { merchant in merchant.processing.map { (merchant.id, $0) } }
  }

  private func uniqueHashes() -> [DoctorFinding] {
    let hashed = processing.compactMap { entry in entry.certificate.publicKeyHash.map { ($0, entry.certificate.file) } }
    return Dictionary(grouping: hashed) { Base64.encode($0.0) }.sorted { $0.key < $1.key }.map { hash, entries in
      let files = entries.map(\.1)
      return DoctorCheck.keyHashUnique.require(
        files.count == 1, files[0], ok: hash,
        failed: "the key \(hash) is also that of \(files.dropFirst().joined(separator: ", "))")
    }
  }

  private func loadedKeys() -> [DoctorFinding] {
    guard let facts, facts.isRunning else { return [DoctorCheck.keyLoaded.skipped("server", noAnswer)] }
    let loaded = Set(facts.keys.map { [$0.merchant, $0.publicKeyHash] })
    return processing.compactMap { owner, certificate in
      guard let hash = certificate.publicKeyHash.map({ Base64.encode($0) }) else { return nil }
      return DoctorCheck.keyLoaded.require(
        loaded.contains([owner, hash]), certificate.file, ok: hash, failed: "the server does not have the key \(hash)")
    }
  }

  private func activeKeys() -> [DoctorFinding] {
    guard let facts else { return [DoctorCheck.keyActive.skipped("store", factsProblem)] }
    let serving = facts.keys.filter { $0.state != "retired" }
    return Dictionary(grouping: serving) { [$0.merchant, $0.version] }.sorted { $0.key[0] < $1.key[0] }.map {
      kind, keys in
      let subject = "\(kind[0].isEmpty ? "platform" : kind[0]) \(kind[1])"
      let active = keys.count { $0.state == "active" }
      guard active != 1 else { return DoctorCheck.keyActive.ok(subject, "\(keys.count) keys, one active") }
      return DoctorCheck.keyActive.warning(subject, "\(active) of \(keys.count) keys are active")
    }
  }
}
