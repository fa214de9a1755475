import Foundation
package import HTTPTransport
import Storage

/// The settings `outbound.*` of `tender serve`: the ways out of the operator's network.
package struct OutboundConfiguration: Sendable {
  /// What a destination says in place of the setting for all.
  package enum Way: Sendable, Hashable {
    case direct
    /// A proxy: `http://proxy.example.com:3128`.
    case proxy(String)

    var text: String {
      switch self {
      case .direct: "direct"
      case .proxy(let address): address
      }
    }
  }

  package var proxy: String?
  package var user: String?
  package var password: String?
  package var exceptions: [Egress.Exception] = []
  package var rootsFile: String?
  /// Whether proxies are asked for the names that merchants give, in place of the addresses that were checked.
  package var namesToProxy = false
  package var ways: [Egress.Destination: Way] = [:]
  package var rootsFiles: [Egress.Destination: String] = [:]

  package init() {}

  /// The way to a destination.
  ///
  /// - Throws: ``ConfigurationError`` where the file of authorities cannot be used.
  package func egress(to destination: Egress.Destination) throws -> Egress {
    Egress(proxy: proxy(to: destination), exceptions: exceptions, rootsPEM: try rootsPEM(of: destination))
  }

  private func proxy(to destination: Egress.Destination) -> Egress.Proxy? {
    let address: String? =
      switch ways[destination] {
      case .direct: nil
      case .proxy(let own): own
      case nil: proxy
      }
    guard let url = address.flatMap({ URLComponents(string: $0) }), let host = url.host, let port = url.port else {
      return nil
    }
    return Egress.Proxy(host: host.trimmingCharacters(in: ["[", "]"]), port: port, user: user, password: password)
  }

  /// The authorities for all, and those for the destination.
  private func rootsPEM(of destination: Egress.Destination) throws -> String? {
    let own = rootsFiles[destination].map { ("outbound.\(destination.rawValue).rootsFile", $0) }
    let files = [rootsFile.map { ("outbound.rootsFile", $0) }, own].compactMap(\.self)
    guard !files.isEmpty else { return nil }
    return try files.map { key, file in try Self.roots(file, key) }.joined(separator: "\n")
  }

  /// The certificates in a file.
  ///
  /// - Parameter key: the setting that names it.
  static func roots(_ file: String, _ key: String) throws -> String {
    guard let data = FileManager.default.contents(ofFile: file), let text = String(data: data, encoding: .utf8),
      text.contains("BEGIN CERTIFICATE")
    else {
      throw ConfigurationError(key, "\(file) holds no certificate in PEM")
    }
    return text
  }

  func check() throws {
    guard (user == nil) == (password == nil) else {
      throw ConfigurationError("outbound.user", "name both outbound.user and outbound.passwordFile, or neither")
    }
    let hasProxy = Egress.Destination.allCases.contains { proxy(to: $0) != nil }
    guard hasProxy || user == nil else {
      throw ConfigurationError("outbound.user", "belongs to a proxy; name it in outbound.proxy, or take the user out")
    }
    for destination in Egress.Destination.allCases { try check(egress(to: destination), destination) }
  }

  private func check(_ egress: Egress, _ destination: Egress.Destination) throws {
    do { try egress.checkRoots() } catch {
      let key = rootsFiles[destination] == nil ? "outbound.rootsFile" : "outbound.\(destination.rawValue).rootsFile"
      throw ConfigurationError(key, "the file holds a certificate that cannot be read")
    }
  }
}

extension SettingsTable where Target == ServerConfiguration {
  static let outbound: [Setting<ServerConfiguration>] =
    [
      Setting(
        "outbound.proxy", .proxy, "The HTTP proxy to all that is not on this machine, see docs/network.md.",
        get: { $0.outbound.proxy }, set: { $0.outbound.proxy = $1 }),
      Setting(
        "outbound.user", .text("a user's name", as: "tender", where: { !$0.contains(":") }), \.outbound.user,
        "Who authenticates at every proxy that is named here."),
      Setting(
        "outbound.password", .password, "The user's password; better in the file.", get: { $0.outbound.password },
        set: { $0.outbound.password = $1 }),
      Setting(
        "outbound.passwordFile", .passwordFile, "A file with the password.", get: { _ in nil },
        set: { $0.outbound.password = $1.secret }),
      Setting(
        "outbound.noProxy", .list(of: .proxyException), \.outbound.exceptions,
        "What is reached without a proxy. This machine always is."),
      Setting(
        "outbound.namesToProxy", .flag, \.outbound.namesToProxy,
        "Whether proxies are asked for the names that merchants give, and not for the addresses that Tender resolved and checked. "
          + "The proxy must refuse private addresses then."),
      Setting(
        "outbound.rootsFile", .file, \.outbound.rootsFile,
        "Certificate authorities that are trusted beside the system's everywhere, PEM."),
    ] + Egress.Destination.allCases.flatMap(own)

  private static func own(_ destination: Egress.Destination) -> [Setting<ServerConfiguration>] {
    let name = "outbound.\(destination.rawValue)"
    let way = Setting<ServerConfiguration>(
      "\(name).proxy", .way, "The way \(destination.words), where it is another one.",
      get: { $0.outbound.ways[destination] }, set: { $0.outbound.ways[destination] = $1 })
    let roots = Setting<ServerConfiguration>(
      "\(name).rootsFile", .file, "Certificate authorities that are trusted there too, PEM.",
      get: { $0.outbound.rootsFiles[destination] }, set: { $0.outbound.rootsFiles[destination] = $1 })
    return [way, roots]
  }
}

extension Egress.Destination {
  fileprivate var words: String {
    switch self {
    case .apple: "to Apple's gateway"
    case .providers: "to payment providers"
    case .webhooks: "of webhooks"
    case .merchants: "to merchants' servers: prices, baskets, icons, domains that are checked"
    case .mail: "to the mail server"
    case .telemetry: "to the collector of traces and metrics"
    case .signIn: "to the provider at which operators sign in"
    }
  }
}

extension SettingType<String> {
  /// A proxy. A password does not belong into it.
  fileprivate static let proxy = one(
    "an address such as http://proxy.example.com:3128", as: "http://proxy.example.com:3128",
    read: { text in
      guard let address = ServiceAddress(text), !address.isHTTPS, let url = URLComponents(string: address.text),
        url.port != nil, url.path.isEmpty
      else { return nil }
      return address.text
    }, text: { $0 })
}

extension SettingType<OutboundConfiguration.Way> {
  fileprivate static let way = one(
    "direct, or an address such as http://proxy.example.com:3128", as: "direct",
    read: { text -> OutboundConfiguration.Way? in
      if text == "direct" { return .direct }
      guard let address = try? SettingType<String>.proxy.read([text]) else { return nil }
      return .proxy(address)
    }, text: { $0.text })
}

extension SettingType<Egress.Exception> {
  fileprivate static let proxyException = one(
    "a host, .example.com for all names below it, an address or a range such as 10.0.0.0/8; a port may follow a host or an address",
    as: "intern.example.com", read: { Egress.Exception($0) }, text: { $0.text })
}
