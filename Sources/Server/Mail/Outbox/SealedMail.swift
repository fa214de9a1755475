package import MerchantIdentity
package import Storage
import StrictJSON

// Confidential messages are sealed under the store's keys, so that no link can be taken from the store alone.
extension MailOutbox {
  static func seal(_ text: String, _ html: String, _ id: String, _ keys: MasterKeys?) throws -> SealedText {
    guard let keys else { throw MasterKeys.missing("(none)") }
    let json: JSONValue = ["text": .string(text), "html": .string(html)]
    return try keys.seal(String(decoding: json.serialized(), as: UTF8.self), of: row(id))
  }

  /// - Throws: ``MerchantStoreError``
  static func open(_ sealed: SealedText, _ id: String, _ keys: MasterKeys?) throws -> (text: String, html: String) {
    guard let keys else { throw MasterKeys.missing(sealed.keyID) }
    let json = JSONField(try JSONReader.read(Array(try keys.open(sealed, of: row(id)).utf8)))
    return (try json.member("text").string, try json.member("html").string)
  }

  /// Seals what waits under former keys under the current one, in one commit.
  ///
  /// - Returns: how many were sealed anew.
  package static func reseal(atMost limit: Int = 100, _ keys: MasterKeys, in store: Transaction) throws -> Int {
    let rows = try store.rows(
      "SELECT id, key_id, nonce, sealed FROM mail_messages WHERE sealed IS NOT NULL AND key_id <> $1 LIMIT $2",
      .text(keys.current), .integer(Int64(limit)))
    for stored in rows {
      guard let sealed = try SealedText(stored) else { continue }
      let id = try stored.text("id")
      let new = try keys.seal(try keys.open(sealed, of: row(id)), of: row(id))
      try store.run(
        "UPDATE mail_messages SET key_id = $2, nonce = $3, sealed = $4 WHERE id = $1", .text(id), .text(new.keyID),
        .blob(new.nonce), .blob(new.sealed))
    }
    return rows.count
  }

  /// How many messages are sealed under each key, by its name.
  package static func sealedByKey(in store: Transaction) throws -> [String: Int] {
    try store.rows("SELECT key_id, count(*) AS n FROM mail_messages WHERE sealed IS NOT NULL GROUP BY key_id")
      .reduce(into: [:]) { $0[try $1.text("key_id")] = Int(try $1.integer("n")) }
  }

  private static func row(_ id: String) -> [String] { ["tender mail_messages 1", id] }
}

extension SealedText {
  /// Nil for a row that is not sealed, or not any more.
  init?(_ row: Row) throws {
    guard let sealed = try row.blobOrNil("sealed") else { return nil }
    self.init(keyID: try row.text("key_id"), nonce: try row.blob("nonce"), sealed: sealed)
  }
}
