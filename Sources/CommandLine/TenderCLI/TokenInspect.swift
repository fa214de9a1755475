import ApplePayToken
import ArgumentParser

struct TokenInspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Show what can be known of a payment token without a key.",
    discussion: """
      No root and no key is asked: this is what the payment token says of itself. A problem is named where it does not fit \
      its own signature.
      """)

  @OptionGroup var input: TokenInput

  func run() throws {
    try input.answering { TokenReport(inspection: TokenInspection($0)) }
  }
}
