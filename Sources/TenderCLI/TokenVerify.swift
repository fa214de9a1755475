import ApplePayToken
import ArgumentParser

struct TokenVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check a payment token's certificates, signature and signing time.")

  @OptionGroup var input: TokenInput
  @OptionGroup var judgement: TokenJudgement

  func run() throws {
    try input.answering {
      let token = try input.token()
      return TokenReport(verified: try judgement.verifier().verify(token, at: try judgement.time()))
    }
  }
}
