import Storage
import StrictJSON
import TenderPayments

/// The text of a configuration that a set-up writes: what it needs, and what is often wanted, switched off.
struct NewConfiguration {
  let environment: TenderPayments.Environment
  let text: String

  /// For a sandbox on this machine.
  static func simulated(_ place: SetupPlace, sandbox: String, port: Int) -> NewConfiguration {
    NewConfiguration(
      environment: .simulated,
      text: """
        # Everything is simulated, and no money moves. docs/configuration.md has every setting.
        environment: simulated
        port: \(port)
        publicURL: http://localhost:\(port)
        # The simulated Apple and bank, which `tender-sandbox sandbox` starts.
        sandboxURL: \(sandbox)
        # Store, keys, and the folders of merchants and connectors.
        directory: \(quoted(place.directory))
        \(secrets(place))# The platform's own identity and key, for the payment page.
        platform:
          directory: \(quoted(place.directory + "/platform"))
        # The operators' pages; `tender user add NAME --role administrator\(place.words)` invites to them.
        backOffice:
          port: \(port + 5)
        # The merchant's own server may be on this machine.
        webhooks:
          allowPrivateAddresses: true

        """)
  }

  /// With Apple and a provider.
  ///
  /// - Parameter tls: certificate and key; nil where a proxy has them.
  static func real(
    _ environment: TenderPayments.Environment, _ address: PublicAddress, _ place: SetupPlace,
    tls: (certificate: String, key: String)?
  ) -> NewConfiguration {
    NewConfiguration(
      environment: environment,
      text: """
        # docs/configuration.md has every setting; `tender config check\(place.words)` checks this file.

        # apple-sandbox: Apple's sandbox testers and the provider's test system. production: real cards, real money.
        environment: \(environment.rawValue)

        # How browsers reach this server, and where it listens.
        publicURL: \(address.url)
        host: \(tls == nil ? "127.0.0.1" : "0.0.0.0")
        port: \(address.port)
        \(lines(tls))
        # Store, keys, and the folders of merchants and connectors.
        directory: \(quoted(place.directory))
        \(secrets(place))
        # The operators' pages, in a proxy with TLS. `tender user add NAME --role administrator\(place.words)` invites.
        #backOffice:
        #  port: 8405
        #  url: https://office.example.com

        # Figures for Prometheus, on this machine alone.
        #metrics:
        #  port: 8406

        # Warnings before certificates and domains end, and messages to shoppers: docs/mail.md.
        #mail:
        #  host: smtp.example.com
        #  user: tender@example.com
        #  passwordFile: \(place.beside("mail.secret"))
        #  from: tender@example.com
        #  recipients: [operator@example.com]

        # The store on PostgreSQL, for several servers: docs/postgres.md.
        #store:
        #  url: postgres://tender@db.example.com/tender
        #  passwordFile: \(place.beside("store-password.secret"))

        """)
  }

  private static func lines(_ tls: (certificate: String, key: String)?) -> String {
    guard let tls else { return "# TLS is in the proxy in front; tls.certificateFile and tls.keyFile serve it here.\n" }
    return "tls:\n  certificateFile: \(quoted(tls.certificate))\n  keyFile: \(quoted(tls.key))\n"
  }

  private static func secrets(_ place: SetupPlace) -> String {
    guard place.isMachines else { return "" }
    return """
      secrets:
        # The keys that seal the secrets in the store: back them up, apart from the store.
        keyFile: \(quoted(place.storeKey))

      """
  }

  /// As it is, or between quotation marks where YAML would read it in another way.
  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"#:"'{}[],&*!|>%@`"#.utf8.contains($0) }
    return isPlain ? text : String(decoding: JSONValue.string(text).serialized(), as: UTF8.self)
  }
}
