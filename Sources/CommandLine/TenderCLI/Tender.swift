import ArgumentParser
import CommandSupport
import Foundation

@main
struct Tender: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tender", abstract: "Apple Pay acceptance, end to end, on your own machines.",
    discussion: "What makes payment tokens or plays Apple, a bank or a shop is the program \(SandboxProgram.name): "
      + "\(SandboxProgram.commands.joined(separator: ", ")).",
    version: "tender \(Version.text)",
    subcommands: [
      InitCommand.self, ServeCommand.self, ReloadCommand.self, TokenCommand.self, KeyAgentCommand.self,
      MerchantCommand.self, CertificateCommand.self, DomainCommand.self, SecretCommand.self, PaymentCommand.self,
      AgreementCommand.self, LinkCommand.self, RouteCommand.self, ConnectorCommand.self, ShadowCommand.self,
      WebhooksCommand.self, MailCommand.self, UserCommand.self, StoreCommand.self, BackupCommand.self,
      RestoreCommand.self, ReconcileCommand.self, PrivacyCommand.self, ConfigCommand.self, DoctorCommand.self,
      VersionCommand.self,
    ])

  static func main() async {
    if let problem = SandboxProgram.takeOver(Array(CommandLine.arguments.dropFirst())) {
      Terminal.sayError(problem, exitCode: 2)
      Foundation.exit(2)
    }
    await runProgram(besides: SandboxProgram.commands)
  }
}
