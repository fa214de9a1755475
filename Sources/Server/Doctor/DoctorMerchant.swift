import MerchantIdentity
import Settings
import TenderPayments

extension DoctorCheck {
  static let merchantGroup = [
    merchantReadable, merchantServed, merchantIdentifierForm, merchantIdentifierShared, merchantIdentifierEnvironments,
    apiKeys,
    webhookKeys, identityPresent, processingPresent, processingCount, loneKeys, domainShared,
    networksKnown, framesRegistered,
  ]

  static let merchantReadable = DoctorCheck(
    "merchant_readable", "The merchant's settings can be read.", meaning: "The server does not start or reload.",
    remedy: "Correct the line in merchant.yaml; `tender config check` names it.")
  static let merchantServed = DoctorCheck(
    "merchant_served", "Every merchant can be served as the store or its folder has it.",
    meaning: "A merchant of the store is not served: its pages show no Apple Pay and its server's calls are refused; "
      + "the others go on. Where it is a folder, declared merchants go on as they were read before, and the server does "
      + "not start again.",
    remedy: "Correct what the finding names: `tender merchant edit`, `tender domain remove`, `tender secret revoke`; a "
      + "folder's files, then `tender reload`.")
  static let merchantIdentifierForm = DoctorCheck(
    "merchant_identifier_form", "The merchant identifier is one of Apple's.",
    meaning: "Apple gives no session and no certificate for it.",
    remedy: "Write it as the developer account does: merchant.com.example.shop.")
  static let merchantIdentifierShared = DoctorCheck(
    "merchant_identifier_shared", "Every merchant has a merchant identifier of its own.",
    meaning: "A payment token of one merchant can be opened as another's.",
    remedy: "Give each merchant its own identifier, or let the platform's key serve both: `encryptTo: platform`.")
  static let merchantIdentifierEnvironments = DoctorCheck(
    "merchant_identifier_environments", "A merchant identifier is used in one environment.",
    meaning: "A key made for tests opens payment tokens of real cards.",
    remedy: "Make one merchant identifier for tests and one for production.")
  static let apiKeys = DoctorCheck(
    "api_keys_present", "The merchant has an API key.", meaning: "The merchant's server cannot create a basket.",
    remedy: "Write one: (umask 077; openssl rand -hex 32 > api-keys/ID.secret), then `tender reload`.")
  static let webhookKeys = DoctorCheck(
    "webhook_keys_present", "A merchant with webhooks has a key that signs them.",
    meaning: "The server does not start or reload; the events of a merchant of the store wait.",
    remedy: "Write one: (umask 077; openssl rand -hex 32 > webhook-keys/ID.secret).")
  static let identityPresent = DoctorCheck(
    "identity_present", "A merchant with a domain has an identity certificate.",
    meaning: "No page of the merchant can open a payment sheet.",
    remedy: "Put the merchant identity certificate into identity.pem and its key into identity.key.")
  static let processingPresent = DoctorCheck(
    "processing_present", "Somebody can open the merchant's payment tokens.",
    meaning: "Only a provider that opens payment tokens itself can take the merchant's payments.",
    remedy: "Put the payment processing certificate into processing/1.pem and its key into processing/1.key.")
  static let processingCount = DoctorCheck(
    "processing_count", "A merchant has at most three processing certificates.",
    meaning: "Apple holds no more than that; one of them is forgotten, and its key still opens payment tokens.",
    remedy: "Retire the oldest: `tender certificate keys`, then `retire-key`, then remove its files.")
  static let loneKeys = DoctorCheck(
    "key_without_certificate", "Every private key has its certificate beside it.",
    meaning: "The key is not used: payment tokens for it are refused as unknown_key.",
    remedy: "Download the certificate from the developer account and put it beside the key, with the ending .pem.")
  static let domainShared = DoctorCheck(
    "domain_shared", "A domain belongs to one merchant.", meaning: "The server does not start or reload.",
    remedy: "Take the domain out of one merchant.yaml.")
  static let networksKnown = DoctorCheck(
    "networks_known", "This release knows every network that the merchant takes.",
    meaning: "The sheet offers the network only where the browser or device knows it; no connector that has to name it "
      + "takes its cards.",
    remedy: "See that the name is Apple's. If it is, give the merchant a route whose provider is not told the network.")
  static let framesRegistered = DoctorCheck(
    "hosted_frames_registered", "Every site that may frame the hosted pages is a domain of the merchant.",
    meaning:
      "A hosted page in such a frame takes no payment: Apple's session has to be for the site in the address bar.",
    remedy: "Add the site to the merchant's domains and register it with Apple, or take it out of hostedFrameAncestors."
  )
}

extension Doctor {
  func merchantFindings() -> [DoctorFinding] {
    subject.merchants.flatMap { merchant in
      ([readable(merchant), identifier(merchant)] + contents(merchant)).map(merchant.withItsRemedy)
    }
      + served() + sharedIdentifiers() + sharedDomains()
  }

  private func served() -> [DoctorFinding] {
    guard let facts, facts.isRunning else { return [DoctorCheck.merchantServed.skipped("store", noAnswer)] }
    guard !facts.leftOut.isEmpty else { return [DoctorCheck.merchantServed.ok("store", "none is left out")] }
    return facts.leftOut.map { DoctorCheck.merchantServed.failed($0.id, $0.reason) }
  }

  private func readable(_ merchant: ExaminedMerchant) -> DoctorFinding {
    DoctorCheck.merchantReadable.require(
      merchant.problem == nil, merchant.id, ok: merchant.path, failed: merchant.problem ?? "")
  }

  private func identifier(_ merchant: ExaminedMerchant) -> DoctorFinding {
    guard let settings = merchant.settings else {
      return DoctorCheck.merchantIdentifierForm.skipped(merchant.id, "merchant.yaml cannot be read")
    }
    return DoctorCheck.merchantIdentifierForm.require(
      merchant.identifier != nil, merchant.id, ok: settings.merchantIdentifier,
      failed: "“\(settings.merchantIdentifier)” is no merchant identifier")
  }

  private func contents(_ merchant: ExaminedMerchant) -> [DoctorFinding] {
    guard let settings = merchant.settings else { return [] }
    return [environments(merchant), apiKeys(merchant), identity(merchant), processing(merchant), count(merchant)]
      + (settings.webhooks.isEmpty ? [] : [webhookKeys(merchant)]) + loneKeys(merchant)
      + [networks(merchant.id, settings), frames(merchant, settings)]
  }

  private func networks(_ id: String, _ settings: MerchantSettings) -> DoctorFinding {
    let unknown = settings.unknownNetworks
    return unknown.isEmpty
      ? DoctorCheck.networksKnown.ok(id, settings.networks.map(\.rawValue).joined(separator: ", "))
      : DoctorCheck.networksKnown.warning(id, "unknown: \(unknown.map(\.rawValue).joined(separator: ", "))")
  }

  private func frames(_ merchant: ExaminedMerchant, _ settings: MerchantSettings) -> DoctorFinding {
    let (allowed, others) = (settings.hosted.frameAncestors, settings.ancestors(besides: merchant.domains))
    return others.isEmpty
      ? DoctorCheck.framesRegistered.ok(merchant.id, allowed.isEmpty ? "no site may" : allowed.joined(separator: ", "))
      : DoctorCheck.framesRegistered.warning(
        merchant.id, "no domain of the merchant: \(others.joined(separator: ", "))")
  }

  private func environments(_ merchant: ExaminedMerchant) -> DoctorFinding {
    let issuers = Set(merchant.certificates.filter { $0.certificate != nil }.map(\.isFromApple))
    guard issuers.count > 1 else {
      return DoctorCheck.merchantIdentifierEnvironments.ok(merchant.id, "all certificates are of one environment")
    }
    return DoctorCheck.merchantIdentifierEnvironments.warning(
      merchant.id, "Apple issued some of its certificates, and a sandbox others")
  }

  private func apiKeys(_ merchant: ExaminedMerchant) -> DoctorFinding {
    let count = merchant.apiKeys
    guard count == 0 else { return DoctorCheck.apiKeys.ok(merchant.id, count == 1 ? "1 key" : "\(count) keys") }
    return DoctorCheck.apiKeys.warning(merchant.id, "there is no API key")
  }

  private func webhookKeys(_ merchant: ExaminedMerchant) -> DoctorFinding {
    DoctorCheck.webhookKeys.require(
      merchant.webhookKeys > 0, merchant.id, ok: "\(merchant.webhookKeys) there", failed: "there is no webhook key")
  }

  private func identity(_ merchant: ExaminedMerchant) -> DoctorFinding {
    guard !merchant.domains.isEmpty else {
      return DoctorCheck.identityPresent.skipped(merchant.id, "the merchant has no domain")
    }
    return DoctorCheck.identityPresent.require(
      merchant.identity != nil, merchant.id, ok: merchant.identity?.file ?? "",
      failed: "there is no identity certificate")
  }

  private func processing(_ merchant: ExaminedMerchant) -> DoctorFinding {
    if merchant.settings?.encryptTo == .platform {
      return DoctorCheck.processingPresent.require(
        subject.platformHasKey, merchant.id, ok: "the platform's key serves it",
        failed: "encryptTo is platform, and the platform has no certificate",
        remedy: "Set platform.directory to the folder with the platform's processing certificates.")
    }
    guard !merchant.processing.isEmpty else {
      return DoctorCheck.processingPresent.warning(merchant.id, "there is no processing certificate")
    }
    return DoctorCheck.processingPresent.ok(merchant.id, "\(merchant.processing.count) there")
  }

  private func count(_ merchant: ExaminedMerchant) -> DoctorFinding {
    let count = merchant.processing.count
    guard count > 3 else { return DoctorCheck.processingCount.ok(merchant.id, "\(count) of at most 3") }
    return DoctorCheck.processingCount.warning(merchant.id, "\(count) processing certificates")
  }

  private func loneKeys(_ merchant: ExaminedMerchant) -> [DoctorFinding] {
    guard !merchant.loneKeys.isEmpty else {
      return [DoctorCheck.loneKeys.ok(merchant.id, "every key has its certificate")]
    }
    return merchant.loneKeys.map { DoctorCheck.loneKeys.warning($0, "there is no certificate beside the key") }
  }

  private func sharedIdentifiers() -> [DoctorFinding] {
    let named = subject.merchants.compactMap { merchant in merchant.identifier.map { ($0.text, merchant.id) } }
    return Dictionary(grouping: named, by: \.0).sorted { $0.key < $1.key }.map { identifier, owners in
      let ids = owners.map(\.1).joined(separator: ", ")
      guard owners.count > 1 else { return DoctorCheck.merchantIdentifierShared.ok(identifier, ids) }
      return DoctorCheck.merchantIdentifierShared.warning(identifier, "the identifier of \(ids)")
    }
  }

  private func sharedDomains() -> [DoctorFinding] {
    let named = subject.merchants.flatMap { merchant in merchant.domains.map { ($0.name, merchant.id) } }
    return Dictionary(grouping: named, by: \.0).sorted { $0.key < $1.key }.map { domain, owners in
      DoctorCheck.domainShared.require(
        owners.count == 1, domain, ok: owners[0].1,
        failed: "a domain of \(owners.map(\.1).joined(separator: ", "))")
    }
  }
}

extension ExaminedMerchant {
  /// The finding, with what to do at a merchant of the store where the check's remedy is about a folder's files.
  func withItsRemedy(_ finding: DoctorFinding) -> DoctorFinding {
    guard isStored, !finding.remedy.isEmpty, let remedy = remedyInStore(finding) else { return finding }
    return DoctorFinding(
      code: finding.code, status: finding.status, subject: finding.subject, finding: finding.finding,
      meaning: finding.meaning, remedy: remedy)
  }

  private func remedyInStore(_ finding: DoctorFinding) -> String? {
    let kind = certificates.first { $0.file == finding.subject }?.kind
    switch finding.code {
    case DoctorCheck.merchantReadable.code, DoctorCheck.merchantIdentifierForm.code:
      return "Correct the setting: `tender merchant edit \(id) KEY=VALUE`."
    case DoctorCheck.apiKeys.code: return "Make one: `tender secret add --merchant \(id)`."
    case DoctorCheck.webhookKeys.code: return "Make one: `tender secret add --merchant \(id) --kind webhook`."
    case DoctorCheck.identityPresent.code: return renewal(.identity)
    case DoctorCheck.processingPresent.code: return settings?.encryptTo == .platform ? nil : renewal(.processing)
    case DoctorCheck.processingCount.code:
      return "Retire the oldest: `tender certificate list`, then `tender certificate retire`."
    case DoctorCheck.certificateExpiry.code, DoctorCheck.certificateKey.code, DoctorCheck.certificatePair.code,
      DoctorCheck.certificateKind.code, DoctorCheck.certificateMerchant.code, DoctorCheck.certificateKeyType.code:
      return kind.map(renewal)
    default: return nil
    }
  }

  private func renewal(_ kind: ExaminedCertificate.Kind) -> String {
    "`tender certificate request \(id) --kind \(kind.rawValue)`; upload the request at Apple's portal; `tender certificate "
      + "import FILE --merchant \(id)`; activate it at Apple; `tender certificate activate`, unless it is the first."
  }
}
