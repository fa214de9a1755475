import ApplePayToken
import ArgumentParser

struct TokenInspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Show what can be known of a payment token without a key.",
    discussion: "Nothing is verified: this is what the payment token says of itself.")

  @OptionGroup var input: TokenInput

  func run() throws {
    try input.answering { TokenReport(inspection: TokenInspection($0)) }
  }
}
