package import AcquirerSandbox
package import Logging
import MailSandbox
package import ProviderEmulators
package import TenderPayments
import TokenIssuer

/// How a sandbox is set up.
package struct SandboxConfiguration: Sendable {
  /// Where authorities, merchants and certificates are kept; made when it is missing, filled when it is empty.
  package var directory: String
  /// The address to listen on. The sandbox is for the machine it runs on.
  package var host = "127.0.0.1"
  /// Plain HTTP: portal, device, script, management, acquirer. 0 takes a free one.
  package var port = 8402
  /// The gateway, over mutual TLS. 0 takes a free one.
  package var gatewayPort = 8403
  /// The mailbox, SMTP with STARTTLS. 0 takes a free one.
  package var mailPort = 0
  /// Host names and addresses of the gateway's TLS certificate; the first one stands in its URL.
  package var tlsHostNames = ["localhost", "127.0.0.1"]
  /// How many payment processing certificates a merchant may hold at a time.
  package var maximumProcessingCertificates = 3
  /// How the portal fetches a domain's association file.
  package var fetch = AssociationFetch.unavailable
  /// The acquirer's merchants: the name by API key.
  package var acquirerKeys = ["sandbox-acquirer-key": "sandbox"]
  /// The merchant accounts of the emulated Adyen.
  package var adyenAccounts = [AdyenAccount.sandbox]
  /// The emulated Braintree's merchants.
  package var braintreeAccounts = [BraintreeAccount.sandbox]
  /// The emulated Checkout.com's processing channels.
  package var checkoutComAccounts = [CheckoutComAccount.sandbox]
  /// The emulated Worldline Direct's merchants.
  package var worldlineDirectAccounts = [WorldlineDirectAccount.sandbox]
  /// The clients of the emulated Worldline Acquiring.
  package var worldlineAcquiringAccounts = [WorldlineAcquiringAccount.sandbox]
  /// The emulated Stripe's accounts.
  package var stripeAccounts = [StripeAccount.sandbox]
  /// How long the acquirer hangs when a card or an amount is scripted to get no answer.
  package var acquirerSilence: Duration = .seconds(40)
  /// How the events of the acquirer and of the providers are sent.
  package var events = EventDelivery.unavailable
  /// Where phones on the network reach the page with which they pay; nil keeps it to this machine.
  package var phoneWallet: PhoneWalletAddress?
  /// Demo shops that the front page leads to.
  package var shops: [ShopLink] = []
  package var clock = WallClock.system
  package var random = RandomBytes.system
  package var logger = Logger(label: "tender.sandbox")
  /// Called once, when all listeners accept connections.
  package var onReady: @Sendable (SandboxAddresses) async -> Void = { _ in }

  package init(directory: String) { self.directory = directory }

  /// With port 0 the port is not known when certificates are made.
  var authorityAddresses: AuthorityAddresses {
    port == 0 ? .usual : AuthorityAddresses(base: "http://\(host):\(port)")
  }
}

/// A demo shop, and below its address `/kitchen` with what was ordered there.
package struct ShopLink: Sendable, Hashable {
  package let name: String
  package let url: String

  package init(name: String, url: String) {
    self.name = name
    self.url = url
  }
}

/// Where a running sandbox is reached.
package struct SandboxAddresses: Sendable, Hashable {
  package var port: Int
  package var gatewayPort: Int
  package var mailPort: Int
  let host: String
  let gatewayHost: String

  /// The front page, portal, device and management: `http://127.0.0.1:8402`.
  package var url: String { "http://\(host):\(port)" }
  /// The name in the certificate of the mailbox.
  package var mailHost: String { gatewayHost }
  /// Who may send to it.
  package var mailUser: String { SMTPConversation.user }
  package var mailPassword: String { SMTPConversation.password }
  /// Scheme, host and port of the gateway, without a path: `https://localhost:8403`.
  package var gatewayURL: String { "https://\(gatewayHost):\(gatewayPort)" }
}
