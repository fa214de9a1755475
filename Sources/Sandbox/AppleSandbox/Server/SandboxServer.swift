import AcquirerSandbox
import HTTPServing
package import Hummingbird
import HummingbirdTLS
import MailSandbox
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import TenderPayments
package import TokenIssuer

/// An offline Apple (wallet, Secure Element, gateway, developer portal) and an offline acquirer, with real cryptography
/// under roots of its own that no other system trusts.
///
/// It is as strict as Apple, and its names say that it is not Apple. Three listeners: plain HTTP for everything, mutual
/// TLS for the gateway alone, and SMTP for a mailbox.
package struct SandboxServer: Service {
  let configuration: SandboxConfiguration
  package let pki: SandboxPKI
  let addresses: ListeningAddresses
  let activity: RecentActivity

  let portal: DeveloperPortal
  let sessions: SessionStore
  let device: Device
  let merchantTokens: MerchantTokenStore
  let acquirers: SandboxAcquirers

  let portalRoutes: PortalRoutes
  let deviceRoutes: DeviceRoutes
  let pairingRoutes: PairingRoutes
  let phoneWalletRoutes: PhoneWalletRoutes
  let gatewayRoutes: GatewayRoutes
  let managementRoutes: ManagementRoutes
  let clockRoutes: ClockRoutes
  let revocationRoutes: RevocationRoutes
  let merchantTokenRoutes: MerchantTokenRoutes
  let pages: Pages
  let mailbox: Mailbox
  let mailboxPages: MailboxPages

  /// Reads what the directory holds, or makes new authorities in an empty one.
  package init(_ configuration: SandboxConfiguration) async throws {
    let files = try StateDirectory(path: configuration.directory)
    let simulationClock = try SimulationClock(configuration.clock, files: files)
    var configuration = configuration
    configuration.clock = simulationClock.wall
    let (clock, random) = (configuration.clock, configuration.random)
    let faults = InjectedFaults()
    self.configuration = configuration
    addresses = ListeningAddresses(configuration)
    activity = RecentActivity(clock: clock)
    pki = try SandboxPKI(
      directory: files.subdirectory("pki").path, addresses: configuration.authorityAddresses, clock: clock,
      random: random)
    portal = try DeveloperPortal(
      pki: pki, files: files, fetch: configuration.fetch,
      maximumProcessingCertificates: configuration.maximumProcessingCertificates, clock: clock, random: random)
    sessions = SessionStore(pki: pki, clock: clock, random: random)
    merchantTokens = try MerchantTokenStore(files: files, clock: clock, random: random)
    device = Device(
      issuer: PaymentTokenIssuer(pki: pki, clock: clock, random: random), portal: portal, sessions: sessions,
      merchantTokens: merchantTokens, faults: faults, clock: clock)
    acquirers = try await SandboxAcquirers(configuration, in: files.path, rootPEM: pki.rootPEM)
    portalRoutes = PortalRoutes(portal: portal)
    deviceRoutes = DeviceRoutes(device: device, sessions: sessions, portal: portal, activity: activity)
    pairingRoutes = PairingRoutes(devices: PairedDevices(clock: clock, random: random))
    phoneWalletRoutes = PhoneWalletRoutes(
      sheets: RemoteSheets(clock: clock, random: random, faults: faults),
      address: { [addresses, phoneWallet = configuration.phoneWallet] in phoneWallet?.url ?? addresses.current.url })
    gatewayRoutes = GatewayRoutes(
      service: SessionService(portal: portal, sessions: sessions, clock: clock),
      registrations: RegistrationService(portal: portal), pki: pki, faults: faults,
      activity: activity)
    clockRoutes = ClockRoutes(
      clock: simulationClock, portal: portal, tokens: merchantTokens, events: configuration.events)
    merchantTokenRoutes = MerchantTokenRoutes(
      tokens: merchantTokens, gateway: gatewayRoutes, portal: portal, faults: faults, activity: activity)
    managementRoutes = ManagementRoutes(
      clock: simulationClock,
      pki: pki, portal: portal, sessions: sessions, device: device, faults: faults, addresses: addresses,
      acquirerKey: configuration.acquirerKeys.keys.sorted().first, servesPhones: configuration.phoneWallet != nil)
    revocationRoutes = RevocationRoutes(pki: pki, portal: portal, clock: clock)
    pages = Pages(
      portal: portal, addresses: addresses, acquirerKeys: configuration.acquirerKeys.keys.sorted(), activity: activity,
      acquirers: acquirers.recentlyActive, shops: configuration.shops)
    mailbox = Mailbox(clock: clock)
    mailboxPages = MailboxPages(mailbox: mailbox, addresses: addresses, pages: pages)
  }

  /// What a verifier of this sandbox's payment tokens trusts.
  package var rootPEM: String { get throws { try pki.rootPEM } }

  /// What a client of this sandbox's gateway trusts.
  package var tlsRootPEM: String { get throws { try pki.tlsRootPEM } }

  /// Serves until the task is cancelled or the service group shuts down.
  package func run() async throws {
    let group = ServiceGroup(
      configuration: .init(
        services: [
          .init(service: try frontApplication(), serviceName: "front"),
          .init(service: try gatewayApplication(), serviceName: "gateway"),
          .init(service: try mailboxListener(), serviceName: "mailbox"),
          .init(service: eventService, serviceName: "events"),
        ] + phoneWalletServices.map { .init(service: $0, serviceName: "phone wallet") },
        logger: configuration.logger))
    do {
      try await group.run()
    } catch {
      await close()
      throw error
    }
    await close()
  }

  /// Closes the ledgers; ``run()`` does it on its own when it ends.
  package func close() async {
    await acquirers.close()
  }

  private var eventService: EventService {
    EventService(
      sources: acquirers.eventSources + [MerchantTokenNotifications(tokens: merchantTokens)],
      delivery: configuration.events, logger: configuration.logger)
  }
}

extension SandboxServer {
  /// Portal, device, management and pages, over plain HTTP.
  package func frontApplication() throws -> some ApplicationProtocol {
    Application(
      router: frontRouter(), server: .strict(),
      configuration: .init(address: .hostname(configuration.host, port: configuration.port), serverName: nil),
      onServerRunning: { await noteListening(.front, $0) }, logger: configuration.logger)
  }

  /// The gateway, over mutual TLS, with a server certificate made for this run.
  package func gatewayApplication() throws -> some ApplicationProtocol {
    let certificate = try serverCertificate()
    return Application(
      router: gatewayRouter(),
      server: try .tls(
        .strict(outer: { [activity, configuration] in [HandshakeFailures(activity, configuration.logger)] }),
        tlsConfiguration: .gateway(certificate, pki: pki)),
      configuration: .init(address: .hostname(configuration.host, port: configuration.gatewayPort), serverName: nil),
      onServerRunning: { await noteListening(.gateway, $0) }, logger: configuration.logger)
  }

  /// The phone's page alone, for phones on the network.
  package func phoneWalletApplication(at address: PhoneWalletAddress) -> some ApplicationProtocol {
    Application(
      router: phoneWalletRouter(), server: .strict(),
      configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
      logger: configuration.logger)
  }

  /// Nothing, unless the operator asked for it.
  private var phoneWalletServices: [any Service] {
    configuration.phoneWallet.map { [phoneWalletApplication(at: $0)] } ?? []
  }

  /// The mailbox, over SMTP with STARTTLS, with a server certificate made for this run.
  func mailboxListener() throws -> some Service {
    MailboxListener(
      host: configuration.host, port: configuration.mailPort, mailbox: mailbox,
      tls: try NIOSSLContext(configuration: try .server(serverCertificate())),
      onListening: { await noteListening(.mail, $0) })
  }

  private func serverCertificate() throws -> CertifiedKey {
    try pki.gatewayCertificate(
      hosts: configuration.tlsHostNames, at: configuration.clock.machine(), random: configuration.random)
  }

  private func noteListening(_ listener: ListeningAddresses.Listener, _ channel: any Channel) async {
    guard let port = channel.localAddress?.port, let all = addresses.note(listener, port: port) else { return }
    await configuration.onReady(all)
  }
}
