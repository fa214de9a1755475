import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Settings
import Storage

/// `tender backup`
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Makes an encrypted backup of the store and of its keys.",
    discussion: """
      A server may run meanwhile. The copy is opened and its audit chain verified before it is encrypted by age for the \
      public keys in the file of --recipients, which age-keygen makes. The store's keys go into a second file beside it. \
      Keep the private key of age, and the configuration with its folders, on another machine.
      """)
  @Option(help: "The server's configuration, as for tender serve; it names the store and the keys.") var config: String?
  @Option(help: "The folder for the encrypted files.") var to: String
  @Option(help: "A file with public keys of age, one on a line.") var recipients: String
  @Flag(help: "Leave the keys out.") var withoutKeys = false
  @Option(help: "How many backups the folder keeps, this one counted; older ones are deleted. All by default.")
  var keep: Int?
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard keep.map({ $0 >= 1 }) ?? true else { throw ValidationError("--keep is 1 or more.") }
  }

  func run() async throws {
    guard FileManager.default.fileExists(atPath: recipients) else {
      throw MistakenCall(
        "there is no file \(recipients): age-keygen -o key.txt, then age-keygen -y key.txt > \(recipients)")
    }
    let configuration = try await ConfigurationOptions.load(file: config)
    // Only the public keys are read as root.
    let report = try await FolderOwner.asOwner(besides: configuration.store.path ?? configuration.fingerprintKeyFile) {
      try await StoreBackup(configuration, to: to, for: recipients).make(withKeys: !withoutKeys, keep: keep)
    }
    if json { Terminal.say(try Terminal.json(report)) } else { show(report) }
    guard report.later.isEmpty else {
      throw CallFailure(
        "the backup is made; \(to) has others whose names are later than now, which --keep neither counts nor deletes: "
          + "\(report.later.joined(separator: ", ")). Set the clock, or move them away")
    }
  }

  private func show(_ report: StoreBackup.Report) {
    Terminal.say("store   \(report.store)")
    if let keys = report.keys { Terminal.say("keys    \(keys)") }
    Terminal.say(
      "verified: \(Terminal.counted(report.payments, "payment")), \(report.auditEntries) entries of the audit chain")
    for backup in report.removed { Terminal.say("deleted \(backup)") }
  }
}
