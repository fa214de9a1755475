import HTTPTransport
import MerchantIdentity
import TenderPayments

extension DoctorCheck {
  static let associationGroup = [
    associationThere, associationForm, associationServed, associationRedirect, associationContent, siteRoot,
  ]

  static let associationThere = DoctorCheck(
    "association_present", "There is an association file for the domain.",
    meaning: "Apple cannot verify the domain: no sheet opens on it.",
    remedy: "Download it from the developer account for this very domain into association/DOMAIN.txt.")
  static let associationForm = DoctorCheck(
    "association_form", "The association file looks like one of Apple's.",
    meaning: "Apple refuses a file that was changed: by an editor, a page of an error, a line end.",
    remedy: "Download it again and change nothing in it.")
  static let associationServed = DoctorCheck(
    "association_served", "The domain serves the file at both paths with status 200.",
    meaning: "Apple does not verify the domain, or ends its verification at the next look.",
    remedy: "Let the web server pass /.well-known/apple-developer-merchantid-domain-association and the same name "
      + "with .txt to Tender, without authentication, and let Apple's ranges (docs/network.md) through the firewall.")
  static let associationRedirect = DoctorCheck(
    "association_redirect", "The domain answers itself, without a redirect.", meaning: "Apple follows no redirect.",
    remedy: "Take the path out of the rule that redirects, for example to www.")
  static let associationContent = DoctorCheck(
    "association_content", "What the domain serves is the file, byte for byte.",
    meaning: "Apple accepts only the newest file of this domain; a cache or another site may serve an older one.",
    remedy: "`tender reload`; then empty the CDN's cache of the path.")
  static let siteRoot = DoctorCheck(
    "site_root", "The site's root answers with status 200.",
    meaning: "Apple fetches it too when it looks again before the TLS certificate expires.",
    remedy: "Let the root of the host answer without a redirect to another host.")
}

extension Doctor {
  func associationFindings() async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for (merchant, domain) in domains {
      let file = merchant.associations[domain.name]
      findings.append(there(domain, merchant, file))
      if let file { findings.append(form(domain, file)) }
      if let words = await refusal(of: domain.host) {
        findings.append(DoctorCheck.associationServed.skipped(domain.name, words))
      } else {
        if let file { findings += await checkServed(domain, file) }
        findings.append(await root(domain))
      }
    }
    return findings
  }

  private func there(_ domain: Domain, _ merchant: ExaminedMerchant, _ file: [UInt8]?) -> DoctorFinding {
    guard !merchant.isStored else {
      return DoctorCheck.associationThere.require(
        file != nil, domain.name, ok: "in the store", failed: "the store has no association file for it",
        remedy: "Download it from the developer account for \(domain.name), then `tender domain add \(domain.name) "
          + "--merchant \(merchant.id) --association FILE`.")
    }
    let path = "\(merchant.path)/association/\(domain.name).txt"
    return DoctorCheck.associationThere.require(
      file != nil, domain.name, ok: path, failed: "there is no \(path)",
      remedy: "Download it from the developer account for \(domain.name) into \(path), then `tender reload`.")
  }

  /// Seen are Base64 of a signed file, and hexadecimal digits: text of one kind of letters, never markup.
  private func form(_ domain: Domain, _ file: [UInt8]) -> DoctorFinding {
    let check = DoctorCheck.associationForm
    guard (1...65_536).contains(file.count) else { return check.failed(domain.name, "it has \(file.count) bytes") }
    let isText = file.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D }
    let isMarkup = file.first { $0 > 0x20 } == UInt8(ascii: "<")
    return check.require(
      isText && !isMarkup, domain.name, ok: "\(file.count) bytes",
      failed: isMarkup ? "it is a page of HTML" : "it holds bytes that are no text")
  }

  private func checkServed(_ domain: Domain, _ file: [UInt8]) async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for path in DomainAssociation.paths { findings += await checkServed(domain, path, file) }
    return findings
  }

  private func checkServed(_ domain: Domain, _ path: String, _ file: [UInt8]) async -> [DoctorFinding] {
    let (subject, check) = (domain.name + path, DoctorCheck.self)
    switch await fetch(domain, path) {
    case .failure(let problem): return [check.associationServed.failed(subject, problem.words)]
    case .success(let answer) where (300..<400).contains(answer.status):
      let target = answer.header("Location") ?? "another address"
      return [check.associationRedirect.failed(subject, "status \(answer.status), to \(target)")]
    case .success(let answer) where answer.status != 200:
      return [check.associationServed.failed(subject, "status \(answer.status)")]
    case .success(let answer):
      let same = check.associationContent.require(
        answer.body == file, subject, ok: "\(file.count) bytes, the same",
        failed: "\(answer.body.count) bytes are served, and they are not the \(file.count) of the file")
      return [
        check.associationServed.ok(subject, "status 200"), check.associationRedirect.ok(subject, "no redirect"), same,
      ]
    }
  }

  private func root(_ domain: Domain) async -> DoctorFinding {
    switch await fetch(domain, "/") {
    case .failure(let problem): return DoctorCheck.siteRoot.warning(domain.name + "/", problem.words)
    case .success(let answer) where answer.status == 200:
      return DoctorCheck.siteRoot.ok(domain.name + "/", "status 200")
    case .success(let answer): return DoctorCheck.siteRoot.warning(domain.name + "/", "status \(answer.status)")
    }
  }

  /// As Apple fetches: HTTPS without redirects. Names of this machine, which not every resolver knows, are called by
  /// their address over HTTP.
  private func fetch(_ domain: Domain, _ path: String) async -> Result<InboundResponse, TransportError> {
    let request =
      if domain.isLoopback {
        OutboundRequest(
          method: "GET", url: "http://127.0.0.1\(domain.name.dropFirst(domain.host.count))\(path)",
          headers: [HTTPField("Host", domain.name)])
      } else {
        OutboundRequest(method: "GET", url: "https://\(domain.host)\(path)")
      }
    do throws(TransportError) {
      return .success(try await system.network.guarded.send(request, .seconds(10)))
    } catch { return .failure(error) }
  }
}
