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
    #expect(
      try await workshop.run("ls -A new | sort | tr '\\n' ' '").lines
        == ["fingerprint.key store.key tender.db tender.db.lock "])
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
    (changed("UPDATE shared_keys SET hash = 'x'"), "backup_foreign"),
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
    #expect(try await workshop.run("ls -A new").lines.allSatisfy { $0 == "tender.db.lock" })
  }

  @Test func `is not made into or from what is not there, and not decrypted by another key`() async throws {
    let workshop = try await Self.workshop()
    for (command, code, words) in [
      ("tender backup --to backups --recipients nobody.pub", Int32(2), "there is no file nobody.pub"),
      ("TENDER_DIRECTORY=none \(Self.backup)", 1, "there is no store at none/tender.db"),
      ("\(Self.backup) --keep 0", 2, "--keep is 1 or more"),
      ("echo age1nonsense > wrong.pub; tender backup --to backups --recipients wrong.pub", 1, "age failed"),
      ("tender backup --to backups --recipients key.txt", 1, "key.txt has a private key"),
      ("tender backup --to backups --recipients .tender", 1, ".tender is a folder: name a file"),
      ("touch no.pub; tender backup --to backups --recipients no.pub", 1, "no.pub has no public key"),
    ] {
      let answer = try await workshop.run(command)
      #expect(answer.exitCode == code && answer.lines.joined().contains(words), "\(command): \(answer.lines)")
    }
    #expect(try await workshop.run("ls -A backups").lines.isEmpty, "nothing is left")
    #expect(try await workshop.run("\(Self.backup) && age-keygen -o other.txt 2>/dev/null; mkfifo pipe").exitCode == 0)
    for (command, words) in [
      ("--identity other.txt backups/*.store.age", "has not the private key"),
      ("--identity backup.pub backups/*.store.age", "backup.pub has a public key"),
      ("--identity key.txt backup.pub", "backup.pub is no file that age has encrypted"),
      ("--identity key.txt backups", "backups is a folder: name a file"),
      ("--identity key.txt nothing.age", "there is no file nothing.age"),
      ("--identity backups backups/*.store.age", "backups is a folder: name a file"),
      ("--identity key.txt backups/*.store.age --keys backups", "backups is a folder: name a file"),
      ("--identity key.txt pipe", "pipe is no regular file"),
      ("--identity key.txt backups/*.keys.age", "holds no store in SQLite"),
      ("--identity key.txt backups/*.store.age --keys backups/*.store.age", "holds no keys"),
      ("--identity key.txt backups/*.store.age", "the store's keys are not on this machine"),
    ] {
      let answer = try await workshop.run("TENDER_DIRECTORY=new tender restore store \(command)")
      #expect(answer.exitCode == 1 && answer.lines.joined().contains(words), "\(command): \(answer.lines)")
    }
    #expect(try await workshop.run("ls -A new").lines == ["tender.db.lock"])
    let mixed = try await workshop.run(
      "mkdir b2 && tender backup --to b2 --recipients backup.pub && \(Self.restore) backups/*.store.age --keys b2/*.keys.age"
    )
    #expect(mixed.exitCode == 1 && mixed.lines.joined().contains("backup_foreign: the keys are of"), "\(mixed.lines)")
  }

  @Test func `of another installation is refused by its fingerprint key, also without the keys of the backup`()
    async throws
  {
    let workshop = try await Self.workshop()
    #expect(try await workshop.run(Self.backup).exitCode == 0)
    let put =
      "mkdir -p new && chmod 700 new && printf '%064d\\n' 3 > new/fingerprint.key && chmod 600 new/fingerprint.key"
    let other = try await workshop.run("\(put) && \(Self.restore) backups/*.store.age")
    #expect(other.exitCode == 1 && other.lines.last?.contains("backup_foreign") == true, "\(other.lines)")
    // One that says nothing of its key is refused too, where a key is.
    let unnamed = try await workshop.run(
      "\(Self.changed("DELETE FROM shared_keys")) && \(Self.restore) changed.age")
    #expect(unnamed.exitCode == 1 && unnamed.lines.last?.contains("backup_foreign") == true, "\(unnamed.lines)")
    let own = try await workshop.run("cp .tender/fingerprint.key new && \(Self.restore) backups/*.store.age")
    #expect(own.exitCode == 0, "\(own.lines)")
  }

  @Test func `is not restored while a server holds the place of the store`() async throws {
    let workshop = try await Self.workshop()
    #expect(try await workshop.run(Self.backup).exitCode == 0)
    let held = try await workshop.run(
      "mkdir -p new && chmod 700 new && flock new/tender.db.lock sh -c '\(Self.restore) backups/*.store.age'")
    #expect(held.exitCode == 1 && held.lines.last?.contains("uses new/tender.db") == true, "\(held.lines)")
    #expect(try await workshop.run("ls -A new").lines == ["tender.db.lock"])
  }

  @Test func `that is made is never deleted, and one of the future is said to be there`() async throws {
    let workshop = try await Self.workshop()
    let old = "tender-20010101T000000Z-00000000.store.age"
    let future = "tender-20990101T000000Z-00000000.store.age"
    let made = try await workshop.run("mkdir backups; touch backups/\(old) backups/\(future); \(Self.backup) --keep 1")
    #expect(
      made.exitCode == 1 && made.lines.last?.contains("tender-20990101T000000Z-00000000") == true, "\(made.lines)")
    let names = try await workshop.run("ls backups").lines
    #expect(names.count == 3 && names.last == future && !names.contains(old), "the new one's two files, \(names)")
  }

  @Test(arguments: ["TERM", "KILL"]) func `that is interrupted leaves nothing unencrypted beside the others`(
    signal: String
  ) async throws {
    let workshop = try await Self.workshop()
    let slow =
      "mkdir slow && printf '#!/bin/sh\\ntouch begun\\nexec sleep 600\\n' > slow/age && chmod 755 slow/age"
    let killed = try await workshop.run(
      """
      \(slow); PATH="$PWD/slow:$PATH" setsid \(Self.backup) & b=$!
      until [ -e begun ]; do sleep 0.1; done; find backups -type f -size +0
      kill -\(signal) $b; wait $b; echo ended $?; pkill -P $b -x sleep; true
      """)
    #expect(killed.lines.last == (signal == "TERM" ? "ended 143" : "ended 137"), "\(killed.lines)")
    #expect(
      !killed.lines.contains { $0.hasPrefix("backups") }, "no file is in the folder of the backups: \(killed.lines)")
    let left = try await workshop.run("find .tender backups -name '.work.*'").lines
    #expect(left.isEmpty == (signal == "TERM"), "\(left)")
    #expect(try await workshop.run("\(Self.backup); find .tender backups -name '.work.*'").lines.count == 3)
  }

  @Test func `is not marked as restored to a moment that is yet to come, nor restored from one`() async throws {
    let workshop = try await Self.workshop()
    let mark = "tender restore mark --store .tender/tender.db --lost-from"
    let future = try await workshop.run("\(mark) 2099-01-01T00:00:00Z")
    #expect(future.exitCode == 1 && future.lines.last?.contains("set the clock") == true, "\(future.lines)")
    #expect(try await workshop.run("tender restore status --store .tender/tender.db").exitCode == 1)
    let changed = try await workshop.run(
      "\(Self.backup) && \(Self.changed("UPDATE backups SET begun_at = 4070908800000000"))")
    #expect(changed.exitCode == 0, "\(changed.lines)")
    let ahead = try await workshop.run("\(Self.restore) changed.age --keys backups/*.keys.age")
    #expect(ahead.exitCode == 1 && ahead.lines.last?.contains("set the clock") == true, "\(ahead.lines)")
    #expect(try await workshop.run("\(mark) 2026-01-01T00:00:00Z").exitCode == 0)
  }

  @Test func `that root makes of another user's store is made as this user, in a folder that is this user's`()
    async throws
  {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let refused = try await workshop.run(
      "chmod 755 . && chown -R 12345:12345 .tender && chmod 600 backup.pub && \(Self.backup)")
    #expect(
      refused.exitCode == 1 && refused.lines.last?.contains("backups cannot be written by 12345") == true,
      "\(refused.lines)")
    #expect(try await workshop.run("ls -A .tender | grep -c work").lines == ["0"])
    let made = try await workshop.run("mkdir backups && chown 12345:12345 backups && \(Self.backup)")
    #expect(made.exitCode == 0, "\(made.lines)")
    #expect(try await workshop.run("find backups .tender | xargs stat -c %u | sort -u").lines == ["12345"])
    #expect(try await workshop.run("ls backups | wc -l; stat -c %a backups/*").lines == ["2", "600", "600"])
  }

  @Test func `and the store that root looks at or erases in stay their user's, with the keys of its contacts`()
    async throws
  {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let asUser = "setpriv --reuid=12345 --regid=12345 --clear-groups"
    let text = "environment: simulated\ndirectory: .tender\nsandboxURL: http://127.0.0.1:1\n"
    try workshop.write(text, to: "tender.yaml")
    #expect(
      try await workshop.run("chmod 755 . && chmod 644 tender.yaml && chown -R 12345:12345 .tender").exitCode == 0)
    try workshop.write(Self.contactKeys, to: ".tender/contacts.keys")
    #expect(try await workshop.run("chown 12345:12345 .tender/contacts.keys").exitCode == 0)
    for command in [
      "tender payment list --config tender.yaml", "tender privacy erase --email a@b.example --reason asked --yes",
      "tender restore status --config tender.yaml", "tender merchant list --config tender.yaml",
      "tender doctor --config tender.yaml", "tender store vacuum --store .tender/tender.db",
      "tender store migrate --to .tender/tender.db",
    ] {
      let answer = try await workshop.run("\(command); find .tender | xargs stat -c %u | sort -u")
      #expect(answer.lines.last == "12345" && answer.lines.dropLast().last != "0", "\(command): \(answer.lines)")
    }
    #expect(try await workshop.run("ls .tender").lines.contains("contacts.keys.lock"))
    let user = try await workshop.run("\(asUser) $(command -v tender) payment list --config tender.yaml")
    #expect(user.exitCode == 0, "\(user.lines)")
  }

  /// Of a store that has no contact yet. The lines are in another order than Tender's, so that the first command writes the
  /// file anew.
  private static let contactKeys =
    "tender contact keys 1\nsearch \(String(repeating: "7", count: 64))\nname 0123456789abcdef0123456789abcdef\n"
    + "secret - \(String(repeating: "5", count: 32))\nend\n"

  @Test(
    arguments: [
      ("mkdir new/none", "new/keys/deep", "new", ""), ("mkdir roots/none", "roots/keys/deep", "roots/keys", ""),
      ("mkdir new/keys && chmod 500 new/keys", "new/keys", "new/keys", "Permission denied"),
      ("ln -s ../roots new/keys && chown -h 12345 new/keys", "new/keys", "roots", "is a link that is not root's"),
      ("mkdir new/keys && chown 0:0 new/keys", "new/keys", "new/keys", "who could exchange it"),
    ])
  func `has its keys written as the user whose folder they are in, where that is allowed`(
    _ places: String, _ folder: String, _ looked: String, _ refusal: String
  ) async throws {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let place = places.replacing(" && chown 0:0 new/keys", with: "")
    let restored = try await workshop.run(
      """
      chmod 755 . && mkdir new roots && \(place) && chown -R 12345:12345 new && \(Self.backup) \
        && \(place == places ? "true" : "chown 0:0 new/keys"); \
        TENDER_SECRETS_KEY_FILE=\(folder)/store.key \(Self.restore) backups/*.store.age --keys backups/*.keys.age
      """)
    #expect(restored.exitCode == (refusal.isEmpty ? 0 : 1), "\(restored.lines)")
    #expect(refusal.isEmpty || restored.lines.joined().contains(refusal), "\(restored.lines)")
    let owners = try await workshop.run(
      "find \(looked) -name '*.key' -o -name deep | xargs -r stat -c '%u %a %n' | sort")
    #expect(refusal.isEmpty ? owners.lines.count >= 2 : owners.lines.isEmpty, "\(owners.lines)")
    #expect(owners.lines.allSatisfy { $0.hasPrefix("12345 600") || $0.hasPrefix("12345 700") }, "\(owners.lines)")
  }

  @Test func `and a copy of the store that root makes stay their user's, and no link leads root out of the folder`()
    async throws
  {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let copied = try await workshop.run(
      """
      chmod 755 . && mkdir roots && ln -s ../roots/new .tender/linked.db && chown -hR 12345:12345 .tender \
        && tender store copy --from .tender/tender.db --to .tender/copy.db && find .tender | xargs stat -c %u | sort -u
      """)
    #expect(copied.exitCode == 0 && copied.lines.last == "12345", "\(copied.lines)")
    #expect(copied.lines.dropLast().last?.hasPrefix("equal") == true, "\(copied.lines)")
    let linked = try await workshop.run(
      "tender store copy --from .tender/tender.db --to .tender/linked.db; ls -A roots")
    #expect(linked.lines.last?.contains("is a link to a file that is not there") == true, "\(linked.lines)")
    let other = try await workshop.run("tender store copy --from .tender/tender.db --to roots/copy.db; ls -A roots")
    #expect(other.lines.last?.contains("name two folders of one user") == true, "\(other.lines)")
  }

  @Test func `and the server's keys are not made by root in another user's folder: root serves nothing from there`()
    async throws
  {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let text = "environment: simulated\ndirectory: .tender\nsandboxURL: http://127.0.0.1:1\n"
    try workshop.write(text, to: "tender.yaml")
    let served = try await workshop.run(
      "chmod 755 . && rm .tender/*.key && chown -R 12345:12345 .tender; tender serve --config tender.yaml; ls -A .tender"
    )
    #expect(
      served.lines.first { $0.hasPrefix("Error") }?.contains("root does not serve from it") == true, "\(served.lines)")
    #expect(!served.lines.contains("fingerprint.key"), "\(served.lines)")
  }

  @Test func `that root restores belongs to the user whose folder it is`() async throws {
    guard geteuid() == 0 else { return }
    let workshop = try await Self.workshop()
    let restored = try await workshop.run(
      """
      chmod 755 . && mkdir new && chmod 700 new && chown 12345:12345 new && chmod 600 key.txt && \(Self.backup) \
        && \(Self.restore) backups/*.store.age --keys backups/*.keys.age
      """)
    #expect(restored.exitCode == 0, "\(restored.lines)")
    #expect(try await workshop.run("find new | xargs stat -c %u | sort -u").lines == ["12345"])
    #expect(
      try await workshop.run("tender restore status --store new/tender.db; stat -c %u new/* | sort -u").lines.last
        == "12345")
  }
}
