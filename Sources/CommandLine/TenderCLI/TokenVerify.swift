import ApplePayToken
import ArgumentParser

struct TokenVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check a payment token's certificates, signature and signing time.")

  @OptionGroup var input: TokenInput
  @OptionGroup var verification: VerificationOptions

  func run() throws {
    let novelties = Novelties()
    let verifier = try verification.verifier(reporting: novelties)
    try input.answering { token in
      TokenReport(verified: try verifier.verify(token, at: verification.time()), novelties: novelties.all)
    }
  }
}
