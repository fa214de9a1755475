import ArgumentParser
import Demo

@main
struct Tender: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tender", abstract: "Apple Pay acceptance, end to end, on your own machines.",
    version: "0.1.0-dev",
    subcommands: [
      DemoCommand.self, ServeCommand.self, ReloadCommand.self, SandboxCommand.self, ShopCommand.self, PayCommand.self,
      TokenCommand.self, KeyAgentCommand.self, MerchantCommand.self, CertificateCommand.self, DomainCommand.self,
      SecretCommand.self, PaymentCommand.self, LinkCommand.self, RouteCommand.self, ConnectorCommand.self,
      ShadowCommand.self,
      WebhooksCommand.self, MailCommand.self, UserCommand.self, StoreCommand.self, ReconcileCommand.self,
      ConfigCommand.self, DoctorCommand.self, VersionCommand.self,
    ])
}
