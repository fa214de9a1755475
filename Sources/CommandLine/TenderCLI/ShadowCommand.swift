import ArgumentParser
import CommandSupport
import HTTPTransport
import TenderServer

/// `tender shadow`
struct ShadowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shadow", abstract: "What would become of payments that still go elsewhere; nothing is sent.",
    discussion: """
      Asks the running server to verify, route and build each payment. Nothing is sent, stored or claimed, so the payment \
      tokens can still pay. A line of the file is a payment: {"merchant", "amount", "currency", "token", "receivedAt"?, \
      "merchantReference"?, "country"?, "network"?, "answer"?: {"result", "route"?}}.
      """)

  @Argument(help: "The payments, as JSON lines; - reads standard input.") var file: String
  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON, with the masked requests.") var json = false

  /// Exit code 1 says that a payment would not have been sent, or differs from what the merchant reports, or that a line
  /// was refused, behind which none is looked at.
  func run() async throws {
    let access = try await store.access()
    var reports: [ShadowReport] = []
    var refusal: CallFailure?
    let lines = try NamedFile.bytes(file).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() where line.contains(where: { $0 > 0x20 }) {
      do { reports.append(try await access.askServer("POST", "/shadow", Array(line))) } catch let error as CallFailure {
        refusal = CallFailure("line \(number + 1): \(error)")
        break
      }
    }
    try show(reports)
    if let refusal { throw refusal }
    guard reports.allSatisfy({ $0.route != nil && $0.differences.isEmpty }) else { throw ExitCode(1) }
  }

  private func show(_ reports: [ShadowReport]) throws {
    if json {
      Terminal.say(try Terminal.json(reports))
    } else {
      Table("REFERENCE", "TOKEN", "ROUTE", "DIFFERENCES", of: reports) {
        [$0.merchantReference, $0.refusal ?? $0.token, $0.route ?? "-", $0.differences.joined(separator: ", ")]
      }.show("payment")
    }
  }
}
