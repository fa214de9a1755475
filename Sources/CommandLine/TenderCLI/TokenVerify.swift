import ApplePayToken
import ArgumentParser

struct TokenVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check a payment token's certificates, signature and signing time.")

  @OptionGroup var input: TokenInput
  @OptionGroup var verification: VerificationOptions

  func run() throws {
    let verifier = try verification.verifier()
    try input.answering {
      TokenReport(verified: try verifier.verify(try input.token(), at: try verification.time()))
    }
  }
}
