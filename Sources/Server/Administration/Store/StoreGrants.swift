import TenderPayments

/// What the role of a server needs in a store on PostgreSQL that another role owns. With no more than this a server can
/// neither change a table nor delete from the journal.
package enum StoreGrants {
  /// Tables whose rows the server deletes after some time, or on an operator's word.
  package static let cleared: Set<String> = [
    "baskets", "client_sessions", "customer_inputs", "figures_by_stretch", "figures_stale", "guests",
    "hosted_checkouts", "hosted_handovers", "idempotency", "inbox", "mail_messages", "merchant_certificates",
    "merchant_domains", "merchant_secrets", "merchant_token_events", "merchant_tokens", "merchants",
    "office_challenges",
    "office_devices", "office_failures", "office_filters", "office_grants", "office_invitations", "office_passkeys",
    "office_recovery_codes", "office_sessions", "order_contacts", "quotes", "shared_keys", "webhook_deliveries",
  ]
  /// Tables from which a server deletes only where a limit of retention says so: without the right a used payment token
  /// stays known whatever the configuration says.
  package static let forgotten: Set<String> = ["token_uses"]
  /// Tables whose rows are never changed.
  package static let final: Set<String> = ["audit"]
  /// Tables that only `tender store migrate` writes.
  static let readOnly: Set<String> = ["migrations"]

  /// One GRANT statement for each table, without its semicolon.
  ///
  /// - Parameter forgetsTokens: whether the server may delete fingerprints of payment tokens too.
  package static func statements(to role: String, on tables: [String], forgetsTokens: Bool = false) -> [String] {
    let deleting = forgetsTokens ? cleared.union(forgotten) : cleared
    return tables.sorted().map {
      "GRANT \(rights($0, deleting).joined(separator: ", ")) ON \($0) TO \(quoted(role))"
    }
  }

  private static func rights(_ table: String, _ deleting: Set<String>) -> [String] {
    if readOnly.contains(table) { return ["SELECT"] }
    let change = final.contains(table) ? [] : ["UPDATE"]
    return ["SELECT", "INSERT"] + change + (deleting.contains(table) ? ["DELETE"] : [])
  }

  private static func quoted(_ role: String) -> String { "\"\(role.escaped(["\"": "\"\""]))\"" }
}
