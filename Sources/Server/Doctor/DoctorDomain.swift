import Foundation
import MerchantIdentity
import Settings
import SwiftASN1
import TenderPayments
import Webhooks
import X509

extension DoctorCheck {
  static let domainGroup = [domainResolves, tlsAnswers, tlsVersion, tlsHost, tlsExpiry, tlsTrusted, tlsChain]

  static let domainResolves = DoctorCheck(
    "dns_resolves", "The domain has an address.", meaning: "Neither shoppers nor Apple reach the site.",
    remedy: "Add an A or AAAA record for exactly this name; www. is another name.")
  static let tlsAnswers = DoctorCheck(
    "tls_answers", "The domain answers on port 443 with TLS.", meaning: "There is no Apple Pay without HTTPS.",
    remedy: "Let the web server listen on port 443 and allow it in the firewall, also for Apple's ranges.")
  static let tlsVersion = DoctorCheck(
    "tls_version", "The site speaks TLS 1.2 or later.", meaning: "Apple does not verify the domain.",
    remedy: "Switch on TLS 1.2 and 1.3 in the web server.")
  static let tlsHost = DoctorCheck(
    "tls_host", "The TLS certificate is for this name.", meaning: "Browsers and Apple refuse the site.",
    remedy: "Get a certificate with exactly this name; a wildcard stands for one label.")
  static let tlsExpiry = DoctorCheck(
    "tls_expiry", "The TLS certificate is valid for more than 60 days, or renews itself.",
    meaning: "When it expires the site is down, and Apple's verification of the domain ends with it.",
    remedy: "Renew it 30 days before the end at the latest: Apple looks again 30, 15 and 7 days before, and expects a "
      + "new certificate from the same issuer.")
  static let tlsTrusted = DoctorCheck(
    "tls_trusted", "The certificate leads to a root that browsers and Apple trust.",
    meaning: "Browsers warn, and Apple does not verify the domain.",
    remedy: "Use a certificate of a public authority, and send its intermediate.")
  static let tlsChain = DoctorCheck(
    "tls_chain", "The site sends the intermediate certificate too.",
    meaning: "Some devices, and Apple's verifier, cannot build the chain although your browser can.",
    remedy: "Configure the full chain (fullchain.pem, not cert.pem).")
}

extension Doctor {
  /// Every domain of every merchant.
  var domains: [(merchant: ExaminedMerchant, domain: Domain)] {
    subject.merchants.flatMap { merchant in merchant.domains.map { (merchant, $0) } }
  }

  /// Why the server does not call a host that a merchant names; nil where it does.
  func refusal(of host: String) async -> String? {
    refusal(of: host, at: await system.network.resolve(host))
  }

  func refusal(of host: String, at addresses: [ResolvedAddress]) -> String? {
    let isAllowed = configuration.allowsPrivateWebhooks || addresses.allSatisfy(\.isPublic)
    return isAllowed ? nil : DestinationRefusal.privateAddress(host).words
  }

  func domainFindings() async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for (_, domain) in domains { findings += await self.domain(domain) }
    return findings
  }

  private func domain(_ domain: Domain) async -> [DoctorFinding] {
    guard !domain.isLoopback else {
      return [DoctorCheck.tlsAnswers.skipped(domain.name, "a name of this machine, without TLS")]
    }
    let addresses = await system.network.resolve(domain.host)
    guard !addresses.isEmpty else { return [await explainUnresolved(domain)] }
    let resolved = DoctorCheck.domainResolves.ok(domain.name, addresses.list)
    if let words = refusal(of: domain.host, at: addresses) {
      return [resolved, DoctorCheck.tlsAnswers.skipped(domain.name, words)]
    }
    do {
      return [resolved] + tls(domain, try await system.network.handshake(domain.host, 443))
    } catch {
      return [resolved, DoctorCheck.tlsAnswers.failed(domain.name, "no TLS on port 443: \(error)")]
    }
  }

  /// A name that does not resolve is a failure only where names resolve at all.
  private func explainUnresolved(_ domain: Domain) async -> DoctorFinding {
    let isOnline = await !system.network.resolve("apple-pay-gateway.apple.com").isEmpty
    return isOnline
      ? DoctorCheck.domainResolves.failed(domain.name, "the name has no address")
      : DoctorCheck.domainResolves.notReachable(domain.name, "no name resolves on this machine: it is offline")
  }

  private func tls(_ domain: Domain, _ seen: TLSHandshake) -> [DoctorFinding] {
    let (name, check) = (domain.name, DoctorCheck.self)
    let version = check.tlsVersion.require(
      ["TLSv1.2", "TLSv1.3"].contains(seen.version), name, ok: seen.version, failed: "it speaks \(seen.version)")
    guard let own = seen.chain.first.flatMap({ try? Certificate(derEncoded: $0) }) else {
      return [check.tlsAnswers.failed(name, "the certificate cannot be read"), version]
    }
    let end = Timestamp(own.notValidAfter)
    let trusted = check.tlsTrusted.require(
      seen.trustProblem == nil, name, ok: "the system's roots vouch for it", failed: seen.trustProblem ?? "")
    return [
      check.tlsAnswers.ok(name, "port 443"), version, host(domain, own), expiry(of: name, at: end, check.tlsExpiry),
    ]
      + [trusted, chain(domain, own, seen.chain.count)]
  }

  private func host(_ domain: Domain, _ certificate: Certificate) -> DoctorFinding {
    let names = certificate.dnsNames
    return DoctorCheck.tlsHost.require(
      names.contains { Self.matches($0, domain.host) }, domain.name, ok: names.joined(separator: ", "),
      failed: "the certificate is for \(names.isEmpty ? "no name" : names.joined(separator: ", "))")
  }

  private func chain(_ domain: Domain, _ certificate: Certificate, _ count: Int) -> DoctorFinding {
    DoctorCheck.tlsChain.require(
      count > 1 || certificate.issuer == certificate.subject, domain.name, ok: "\(count) certificates",
      failed: "the site sends its own certificate alone")
  }

  /// RFC 6125: a wildcard stands for exactly the first label.
  static func matches(_ pattern: String, _ host: String) -> Bool {
    let (left, right) = (pattern.lowercased().split(separator: "."), host.lowercased().split(separator: "."))
    guard left.count == right.count, let first = left.first else { return false }
    return (first.elementsEqual("*") ? left.dropFirst().elementsEqual(right.dropFirst()) : left.elementsEqual(right))
  }
}

extension Certificate {
  /// The names of the site, from subjectAltName.
  var dnsNames: [String] {
    guard let names = try? extensions.subjectAlternativeNames else { return [] }
    return names.compactMap { name -> String? in
      if case .dnsName(let text) = name { text } else { nil }
    }
  }
}
