import ApplePayToken
import ArgumentParser
import CommandSupport
import KeyAgent
import TenderPayments

struct TokenDecrypt: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decrypt", abstract: "Verify a payment token and decrypt it.",
    discussion: "The account number and the cryptogram are masked unless --reveal is given.")

  @OptionGroup var input: TokenInput
  @OptionGroup var verification: VerificationOptions

  @OptionGroup var options: KeyOptions

  @Option(help: ArgumentHelp("The socket of a key agent that holds the key, in place of --key.", valueName: "path"))
  var agent: String?

  @Flag(help: "Show the account number and the cryptogram.")
  var reveal = false

  func validate() throws {
    guard options.key.isEmpty != (agent == nil) else {
      throw ValidationError("Give --key, the private key of the payment processing certificate, or --agent.")
    }
    guard agent == nil || (options.certificate.isEmpty && options.merchantId == nil) else {
      throw ValidationError("Leave out --certificate and --merchant-id: an agent knows whose its keys are.")
    }
    guard agent != nil || options.namesMerchant else {
      throw ValidationError("Give either --certificate or --merchant-id.")
    }
  }

  func run() throws {
    let novelties = Novelties()
    let verifier = try verification.verifier(reporting: novelties)
    try input.answering { token in
      let opener = TokenOpener(verifier: verifier, keys: ProcessingKeyRing([Self.merchant: try keys()]))
      let opened = try opener.open(token, for: Self.merchant, at: try verification.time())
      return TokenReport(opened: opened, reveal: reveal, novelties: novelties.all)
    }
  }

  /// All keys given are the caller's own, so there is one merchant.
  private static let merchant = MerchantID("command line")

  private func keys() throws -> [ProcessingKey] {
    if let agent { return try KeyAgentClient(path: agent).keys().map(\.key) }
    return try options.keys()
  }
}
