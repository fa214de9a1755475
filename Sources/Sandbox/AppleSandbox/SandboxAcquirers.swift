import AcquirerSandbox
import Hummingbird
import ProviderEmulators

/// The acquirer and the payment providers of a sandbox, each with a ledger of its own.
struct SandboxAcquirers: Sendable {
  let acquirer: SandboxAcquirerService
  let provider: SandboxAcquirerService
  let adyen: AdyenSandboxService
  let braintree: BraintreeSandbox
  let checkoutCom: CheckoutComSandbox
  let worldlineDirect: WorldlineDirectSandbox
  let worldlineAcquiring: WorldlineAcquiringSandbox
  let stripe: StripeSandboxService

  /// - Parameters:
  ///   - directory: where the ledgers are.
  ///   - rootPEM: the root of the payment tokens that the providers accept.
  init(_ configuration: SandboxConfiguration, in directory: String, rootPEM: String) async throws {
    let (clock, random, silence) = (configuration.clock, configuration.random, configuration.acquirerSilence)
    acquirer = try await SandboxAcquirerService(
      databasePath: "\(directory)/acquirer.sqlite", apiKeys: configuration.acquirerKeys, clock: clock, random: random,
      silence: silence)
    provider = try await SandboxAcquirerService(
      providerDatabasePath: "\(directory)/provider.sqlite", tokenRootPEM: rootPEM, apiKeys: configuration.acquirerKeys,
      clock: clock, random: random, silence: silence)
    adyen = try await AdyenSandboxService(
      databasePath: "\(directory)/adyen.sqlite", tokenRootPEM: rootPEM, accounts: configuration.adyenAccounts,
      clock: clock, random: random, silence: silence)
    braintree = try await BraintreeSandbox(
      databasePath: "\(directory)/braintree.sqlite", tokenRootPEM: rootPEM, accounts: configuration.braintreeAccounts,
      clock: clock, random: random, silence: silence)
    checkoutCom = try await CheckoutComSandbox(
      databasePath: "\(directory)/checkout-com.sqlite", tokenRootPEM: rootPEM,
      accounts: configuration.checkoutComAccounts, clock: clock, random: random, silence: silence)
    worldlineDirect = try await WorldlineDirectSandbox(
      databasePath: "\(directory)/worldline-direct.sqlite", tokenRootPEM: rootPEM,
      accounts: configuration.worldlineDirectAccounts, clock: clock, random: random, silence: silence)
    worldlineAcquiring = try await WorldlineAcquiringSandbox(
      databasePath: "\(directory)/worldline-acquiring.sqlite", accounts: configuration.worldlineAcquiringAccounts,
      clock: clock, random: random, silence: silence)
    stripe = try await StripeSandboxService(
      databasePath: "\(directory)/stripe.sqlite", tokenRootPEM: rootPEM, accounts: configuration.stripeAccounts,
      clock: clock, random: random, silence: silence)
  }

  /// Those that send events.
  var eventSources: [any EventSource] { [acquirer, provider, adyen, braintree, checkoutCom, stripe, worldlineDirect] }

  /// Those that show what they did.
  var recentlyActive: [any RecentlyActive] {
    [acquirer, provider, adyen, braintree, checkoutCom, stripe, worldlineAcquiring, worldlineDirect]
  }

  func addRoutes(to router: Router<SandboxContext>) {
    acquirer.addRoutes(to: router)
    provider.addRoutes(to: router)
    adyen.addRoutes(to: router)
    braintree.addRoutes(to: router)
    checkoutCom.addRoutes(to: router)
    worldlineDirect.addRoutes(to: router)
    worldlineAcquiring.addRoutes(to: router)
    stripe.addRoutes(to: router)
  }

  func close() async {
    await acquirer.close()
    await provider.close()
    await adyen.close()
    await braintree.close()
    await checkoutCom.close()
    await worldlineDirect.close()
    await worldlineAcquiring.close()
    await stripe.close()
  }
}
