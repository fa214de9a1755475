import ArgumentParser
import CommandSupport
import Logging
import MerchantIdentity
import ServiceLifecycle
import TenderServer
import UnixSignals

/// `tender reload`
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Makes the running server read the merchants' folders and its secrets again.",
    discussion: """
      New merchants, domains, certificates, keys and webhooks take effect at once, and so do the credentials of routes and \
      the certificate of TLS; a hangup signal (kill -HUP) does the same. If a file cannot be read, nothing changes. New \
      routes, their connector.yaml and the settings of the server need a restart.
      """)

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() async throws {
    let report: ReloadReport = try await store.access().askServer("POST", "/merchants/reload")
    Terminal.say(json ? try Terminal.json(report) : report.text)
  }
}

/// Reads the merchants' folders and the secrets again at SIGHUP.
struct HangupReload: Service {
  let server: TenderServer
  let hangups: UnixSignalsSequence
  let logger: Logger

  func run() async throws {
    for await _ in hangups.cancelOnGracefulShutdown() {
      do {
        let report = try await server.reload()
        logger.notice("reload: \(report.text)")
      } catch {
        logger.error("reload: nothing has changed: \(ErrorLine.text(for: error))")
      }
    }
  }
}

extension ReloadReport {
  fileprivate var text: String {
    let counts = [(merchants, "merchant"), (domains, "domain"), (addedKeys, "new key")]
    return
      ([counts.map { Terminal.counted($0, $1) }.joined(separator: ", ")]
      + leftOut.map { "\($0.id) is left out: \($0.reason)" }
      + needRestart.map { "\($0): its folder or connector.yaml has changed; restart the server to take it over" })
      .joined(separator: "\n")
  }
}
