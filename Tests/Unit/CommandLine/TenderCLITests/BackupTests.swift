import Foundation
import TenderTesting
import Testing

/// `tender backup` and `tender restore store`, with age, as an operator runs them.
@Suite struct `A backup` {
  /// A store with keys beside it, and a pair of age's keys.
  private static func workshop() async throws -> Workshop {
    let workshop = try Workshop()
    let first = try await workshop.run(
      """
      mkdir -p .tender && chmod 700 .tender && tender store migrate --to .tender/tender.db \
        && printf '%064d\\n' 1 > .tender/fingerprint.key && printf '%064d\\n' 2 > .tender/store.key \
        && chmod 600 .tender/*.key && age-keygen -o key.txt 2>/dev/null && age-keygen -y key.txt > backup.pub
      """)
    #expect(first.exitCode == 0, "\(first.lines)")
    return workshop
  }

  /// Changes the plain store of a backup and encrypts it again, as `changed.age`.
  private static func changed(_ sql: String) -> String {
    """
    age -d -i key.txt -o plain.db backups/*.store.age \
      && python3 -c 'import sqlite3,sys; d = sqlite3.connect("plain.db"); d.executescript(sys.argv[1]); d.close()' "\(sql)" \
      && age -R backup.pub -o changed.age plain.db && rm -f plain.db*
    """
  }

  private static let backup = "tender backup --to backups --recipients backup.pub"
  private static let restore = "TENDER_DIRECTORY=new tender restore store --identity key.txt"

  @Test func `is restored on a new machine with its keys, and marks the store`() async throws {
    let workshop = try await Self.workshop()
    let made = try await workshop.run(Self.backup)
    #expect(made.exitCode == 0 && made.lines.last?.hasPrefix("verified: 0 payments") == true, "\(made.lines)")
    let modes = try await workshop.run(
      "ls -A backups | wc -l; stat -c %a backups/*.age; grep -c 0000000000000001 backups/*")
    #expect(modes.lines.prefix(3) == ["2", "600", "600"], "\(modes.lines)")
    #expect(modes.lines.dropFirst(3).allSatisfy { $0.hasSuffix(":0") }, "no key is readable: \(modes.lines)")
    let restored = try await workshop.run("\(Self.restore) backups/*.store.age --keys backups/*.keys.age")
    #expect(restored.exitCode == 0, "\(restored.lines)")
    #expect(
      try await workshop.run("cmp .tender/store.key new/store.key && stat -c %a new/store.key new/tender.db")
        .lines == ["600", "600"])
    #expect(try await workshop.run("ls -A new | sort | tr '\\n' ' '").lines == ["fingerprint.key store.key tender.db "])
    let status = try await workshop.run("tender restore status --store new/tender.db")
    #expect(
      status.exitCode == 0 && status.lines.first?.hasPrefix("lost: what happened from ") == true, "\(status.lines)")
    #expect(try await workshop.run("tender payment verify-journal --store new/tender.db").exitCode == 0)
    let never = try await workshop.run("tender restore status --store .tender/tender.db")
    #expect(never.exitCode == 1 && never.lines == ["Error: This store was never restored."], "\(never.lines)")
    let again = try await workshop.run("\(Self.restore) backups/*.store.age")
    #expect(
      again.exitCode == 1 && again.lines.last?.contains("there is a store at new/tender.db") == true, "\(again.lines)")
  }

  @Test func `keeps so many of its folder, the newest, and leaves other files alone`() async throws {
    let workshop = try await Self.workshop()
    let many = try await workshop.run(
      "mkdir backups; touch backups/notes.txt; for n in 1 2 3; do \(Self.backup) --keep 2 --without-keys || exit; sleep 1; done"
    )
    #expect(many.exitCode == 0 && many.lines.last?.hasPrefix("deleted tender-") == true, "\(many.lines)")
    #expect(try await workshop.run("ls backups | grep -c store.age; ls backups | wc -l").lines == ["2", "3"])
  }

  private static let refused: [(change: String, code: String)] = [
    ("head -c 3000 backups/*.store.age > changed.age", "backup_damaged"),
    (
      "cp backups/*.store.age changed.age; printf x | dd of=changed.age bs=1 seek=900 conv=notrunc 2>/dev/null",
      "backup_damaged"
    ),
    ("age-keygen -y key.txt | age -R backup.pub -o changed.age", "backup_foreign"),
    (changed("DROP TABLE payments"), "backup_foreign"),
    (changed("DELETE FROM backups"), "backup_foreign"),
    (changed("INSERT INTO migrations VALUES ('later-9', 'x', 'expand', 1)"), "backup_newer"),
    (changed("DELETE FROM migrations WHERE name = 'office-3'"), "backup_older"),
    (changed("INSERT INTO audit_heads VALUES ('main', 1, 'x')"), "backup_damaged"),
    (changed("INSERT INTO shared_keys VALUES ('fingerprint.key', 'x')"), "backup_foreign"),
  ]

  @Test(arguments: refused)
  func `that is damaged, foreign, older or newer is refused by name, and nothing has changed`(
    _ change: String, _ code: String
  ) async throws {
    let workshop = try await Self.workshop()
    #expect(try await workshop.run(Self.backup).exitCode == 0)
    let changed = try await workshop.run(change)
    #expect(changed.exitCode == 0, "\(changed.lines)")
    let answer = try await workshop.run("\(Self.restore) changed.age --keys backups/*.keys.age")
    #expect(answer.exitCode == 1 && answer.lines.last?.contains(code) == true, "\(answer.lines)")
    #expect(try await workshop.run("ls -A new").lines.isEmpty)
  }

  @Test func `is not made into or from what is not there, and not decrypted by another key`() async throws {
    let workshop = try await Self.workshop()
    for (command, code, words) in [
      ("tender backup --to backups --recipients nobody.pub", Int32(2), "there is no file nobody.pub"),
      ("TENDER_DIRECTORY=none \(Self.backup)", 1, "there is no store at none/tender.db"),
      ("\(Self.backup) --keep 0", 2, "--keep is 1 or more"),
      ("echo age1nonsense > wrong.pub; tender backup --to backups --recipients wrong.pub", 1, "age failed"),
    ] {
      let answer = try await workshop.run(command)
      #expect(answer.exitCode == code && answer.lines.joined().contains(words), "\(command): \(answer.lines)")
    }
    #expect(try await workshop.run("ls -A backups").lines.isEmpty, "nothing is left")
    #expect(try await workshop.run("\(Self.backup) && age-keygen -o other.txt 2>/dev/null").exitCode == 0)
    let other = try await workshop.run(
      "TENDER_DIRECTORY=new tender restore store --identity other.txt backups/*.store.age")
    #expect(other.exitCode == 1 && other.lines.joined().contains("backup_damaged"), "\(other.lines)")
    let mixed = try await workshop.run(
      "mkdir b2 && tender backup --to b2 --recipients backup.pub && \(Self.restore) backups/*.store.age --keys b2/*.keys.age"
    )
    #expect(mixed.exitCode == 1 && mixed.lines.joined().contains("backup_foreign: the keys are of"), "\(mixed.lines)")
  }
}
