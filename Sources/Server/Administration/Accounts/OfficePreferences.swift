package import Storage

/// How an operator wants money, dates and numbers to be written, and by which clock.
package struct OfficePreferences: Sendable, Hashable {
  /// A language and perhaps a region: `de-AT`. Empty for what the browser asks for.
  package let language: String
  /// A name of the time zone database: `Europe/Dublin`. Empty for UTC.
  package let zone: String

  package static let none = OfficePreferences(language: "", zone: "")

  package init(language: String, zone: String) { (self.language, self.zone) = (language, zone) }

  static let migration = Migration(
    "office-preferences-1",
    """
    CREATE TABLE office_preferences (
      user_name TEXT PRIMARY KEY NOT NULL REFERENCES office_users (name),
      language TEXT NOT NULL,
      zone TEXT NOT NULL
    );

    """)

  package static func find(of user: String, in store: Transaction) throws -> OfficePreferences {
    let row = try store.row("SELECT language, zone FROM office_preferences WHERE user_name = $1", .text(user))
    return try row.map { OfficePreferences(language: try $0.text("language"), zone: try $0.text("zone")) } ?? none
  }

  package func keep(for user: String, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO office_preferences (user_name, language, zone) VALUES ($1, $2, $3)
      ON CONFLICT (user_name) DO UPDATE SET language = $2, zone = $3
      """, .text(user), .text(language), .text(zone))
  }
}
