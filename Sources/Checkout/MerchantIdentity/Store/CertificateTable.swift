package import Storage
package import TenderPayments

// Certificates: `requested → next → active → draining → retired`.
extension MerchantTables {
  /// How many certificates of a kind Apple gives a merchant at a time.
  package static let maximumCertificates = 3
  /// How many requests may wait for their certificates.
  private static let maximumRequests = 20

  /// Keeps a request and its key. The certificate follows with ``keep(_:of:privateKeyPEM:mayBeWithoutKey:)``.
  ///
  /// - Throws: ``MerchantStoreError`` with `merchant_limit` for one too many.
  package func keep(_ request: KeyAndRequest, of id: MerchantID) throws -> StoredCertificate {
    guard try merchant(id).certificates.count(where: { $0.state == .requested }) < Self.maximumRequests else {
      throw Self.limit(Self.maximumRequests, "certificate requests without a certificate", id)
    }
    let certificate = newID()
    try insert(certificate, id, request.kind, request.algorithm, .requested, request.publicKeyHash, request.requestPEM)
    try keep(request.privateKeyPEM, as: SecretName(id, .certificateKey, certificate))
    return try self.certificate(certificate)
  }

  /// Keeps Apple's certificate beside the key that was made for it. The first of its kind and algorithm is active, any
  /// other is next.
  ///
  /// - Parameters:
  ///   - privateKeyPEM: the key, where it came with the certificate; nil where it was made here.
  ///   - mayBeWithoutKey: whether a key agent holds it.
  /// - Throws: ``MerchantStoreError`` with `certificate_not_requested` or `certificate_limit`.
  package func keep(
    _ certificate: AppleCertificate, of id: MerchantID, privateKeyPEM: String? = nil, mayBeWithoutKey: Bool = false
  ) throws -> StoredCertificate {
    let all = try certificates(of: id)
    let same = all.filter { $0.kind == certificate.kind && $0.algorithm == certificate.algorithm }
    // The key of one that is retired is gone.
    let row = same.first { $0.publicKeyHash == certificate.publicKeyHash && $0.state != .retired }
    if let row, row.certificate == certificate.pem { return row }
    guard same.count(where: { isInUse($0) }) < Self.maximumCertificates else { throw Self.limit(certificate.kind, id) }
    guard row != nil || privateKeyPEM != nil || mayBeWithoutKey else { throw Self.notRequested(certificate, id) }
    let name = row?.id ?? newID()
    if row == nil {
      try insert(name, id, certificate.kind, certificate.algorithm, .requested, certificate.publicKeyHash, nil)
    }
    if let privateKeyPEM { try keep(privateKeyPEM, as: SecretName(id, .certificateKey, name)) }
    let isFirst = !same.contains { $0.state == .active && $0.id != row?.id }
    try store.run(
      "UPDATE merchant_certificates SET certificate = $2, expires_at = $3, state = $4, state_since = $5 WHERE id = $1",
      .text(name), .text(certificate.pem), .time(certificate.notAfter),
      .text((isFirst ? CertificateState.active : .next).rawValue), .time(now))
    return try self.certificate(name)
  }

  /// Takes a certificate into use, and the one before it out of use. It is no error when it is in use already.
  ///
  /// - Throws: ``MerchantStoreError`` with `certificate_state` for one without a certificate, or without a key.
  package func activate(_ id: String) throws -> StoredCertificate {
    let chosen = try certificate(id)
    guard chosen.state != .active else { return chosen }
    guard [.next, .draining].contains(chosen.state) else {
      throw MerchantStoreError(
        .certificateState,
        "The certificate \(id) is \(chosen.state.rawValue); import one for it, or make a new request.")
    }
    for other in try certificates(of: chosen.merchant)
    where other.kind == chosen.kind && other.algorithm == chosen.algorithm && other.state == .active {
      try set(.draining, other.id)
    }
    try set(.active, id)
    return try certificate(id)
  }

  /// Ends a certificate and deletes its key.
  ///
  /// - Throws: ``MerchantStoreError`` with `certificate_state` for the active one.
  package func retire(_ id: String) throws -> StoredCertificate {
    let chosen = try certificate(id)
    guard chosen.state != .active else {
      throw MerchantStoreError(.certificateState, "The certificate \(id) is in use; activate another one first.")
    }
    try remove(SecretName(chosen.merchant, .certificateKey, id))
    try set(.retired, id)
    return try certificate(id)
  }

  /// Notes the state that payment tokens have proved: the first one for a key shows that Apple has activated it. The key
  /// of one that is retired is deleted.
  ///
  /// A state follows those before it alone. What was proved before an operator activated a certificate, and is written
  /// afterwards, undoes nothing.
  ///
  /// - Parameter since: when it was proved; nil for now.
  package func follow(
    _ state: CertificateState, since: Timestamp? = nil, of publicKeyHash: [UInt8], merchant id: MerchantID
  ) throws {
    let changes = try store.changes(
      """
      UPDATE merchant_certificates SET state = $3, state_since = $4
      WHERE merchant = $1 AND public_key_hash = $2 AND kind = 'processing' AND state_since <= $4
        AND (state = 'next' AND $3 <> 'next' OR state = 'active' AND $3 IN ('draining', 'retired')
          OR state = 'draining' AND $3 = 'retired')
      """, [.text(id.rawValue), .text(Hex.encode(publicKeyHash)), .text(state.rawValue), .time(since ?? now)])
    if state == .retired, changes > 0 { try removeKeys(of: publicKeyHash, merchant: id) }
  }

  private func removeKeys(of publicKeyHash: [UInt8], merchant id: MerchantID) throws {
    for row in try certificates(of: id) where row.kind == .processing && row.publicKeyHash == publicKeyHash {
      try remove(SecretName(id, .certificateKey, row.id))
    }
  }

  /// Retires identity certificates that another has replaced before a moment, and deletes their keys.
  ///
  /// - Returns: their ids.
  package func retireIdentities(replacedBefore moment: Timestamp) throws -> [String] {
    let ids = try drainedIdentities(before: moment)
    for id in ids { _ = try retire(id) }
    return ids
  }

  func drainedIdentities(before moment: Timestamp) throws -> [String] {
    try store.rows(
      """
      SELECT id FROM merchant_certificates
      WHERE kind = 'identity' AND state = 'draining' AND state_since < $1 ORDER BY id
      """, .time(moment)
    ).map { try $0.text("id") }
  }

  /// - Throws: ``MerchantStoreError`` with `certificate_unknown`.
  package func certificate(_ id: String) throws -> StoredCertificate {
    guard let row = try store.row("SELECT * FROM merchant_certificates WHERE id = $1", .text(id)) else {
      throw MerchantStoreError(
        .certificateUnknown, "The store has no certificate \(id); `tender certificate list` shows them.")
    }
    return try StoredCertificate(row)
  }

  func certificates(of id: MerchantID) throws -> [StoredCertificate] {
    try store.rows(
      "SELECT * FROM merchant_certificates WHERE merchant = $1 ORDER BY kind, created_at, id", .text(id.rawValue)
    ).map(StoredCertificate.init)
  }

  func expiredCertificates(at now: Timestamp) throws -> Int64 {
    try store.row("SELECT COUNT(*) AS expired FROM merchant_certificates WHERE expires_at < $1", .time(now))?
      .integer("expired") ?? 0
  }

  private func insert(
    _ certificate: String, _ id: MerchantID, _ kind: CertificateKind, _ algorithm: CertificateAlgorithm,
    _ state: CertificateState, _ publicKeyHash: [UInt8], _ request: String?
  ) throws {
    try store.run(
      """
      INSERT INTO merchant_certificates
        (id, merchant, kind, algorithm, state, state_since, request, public_key_hash, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $6)
      """, .text(certificate), .text(id.rawValue), .text(kind.rawValue), .text(algorithm.rawValue),
      .text(state.rawValue), .time(now), .text(optional: request), .text(Hex.encode(publicKeyHash)))
  }

  private func set(_ state: CertificateState, _ id: String) throws {
    try store.run(
      "UPDATE merchant_certificates SET state = $2, state_since = $3 WHERE id = $1", .text(id), .text(state.rawValue),
      .time(now))
  }

  private func isInUse(_ certificate: StoredCertificate) -> Bool {
    certificate.state != .retired && certificate.expiresAt.map { $0 > now } == true
  }

  private func newID() -> String { random.hex(6) }

  private static func limit(_ kind: CertificateKind, _ id: MerchantID) -> MerchantStoreError {
    MerchantStoreError(
      .certificateLimit,
      "\(id) has \(maximumCertificates) \(kind.rawValue) certificates, and Apple gives no more; retire one first.")
  }

  private static func notRequested(_ certificate: AppleCertificate, _ id: MerchantID) -> MerchantStoreError {
    MerchantStoreError(
      .certificateNotRequested,
      "No request of \(id) has the key of this \(certificate.kind.rawValue) certificate, so its private key is not here. "
        + "Import the answer to a request of `tender certificate request`, or a PKCS #12 file with the key.")
  }
}

extension StoredCertificate {
  fileprivate init(_ row: Row) throws {
    guard let kind = CertificateKind(rawValue: try row.text("kind")),
      let algorithm = CertificateAlgorithm(rawValue: try row.text("algorithm")),
      let state = CertificateState(rawValue: try row.text("state")),
      let hash = Hex.decode(try row.text("public_key_hash"))
    else { throw StorageError.column("kind") }
    self.init(
      id: try row.text("id"), merchant: MerchantID(try row.text("merchant")), kind: kind, algorithm: algorithm,
      state: state, stateSince: try row.time("state_since"), request: try row.textOrNil("request"),
      certificate: try row.textOrNil("certificate"), publicKeyHash: hash, expiresAt: try row.timeOrNil("expires_at"))
  }
}

extension StoredCertificate {
  /// Those in use or about to be, the first to end first.
  ///
  /// - Parameter merchants: nil for every merchant's.
  package static func ending(
    of merchants: [MerchantID]?, limit: Int, in store: Transaction
  ) throws -> [StoredCertificate] {
    // PostgreSQL has no empty list.
    guard merchants?.isEmpty != true else { return [] }
    let places = merchants?.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let whose = places.map { "merchant IN (\($0))" } ?? "1 = 1"
    return try store.rows(
      """
      SELECT * FROM merchant_certificates
      WHERE state IN ('next', 'active') AND expires_at IS NOT NULL AND \(whose) ORDER BY expires_at LIMIT \(limit)
      """, merchants?.map { .text($0.rawValue) } ?? []
    ).map(StoredCertificate.init)
  }
}
