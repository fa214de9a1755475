/// How a store on PostgreSQL is reached, and its limits. Its description leaves the address out, which may hold a
/// password.
package struct PostgresSettings: Sendable, CustomStringConvertible, CustomReflectable {
  /// A libpq connection string or `postgres://` address, with one host or several; only the primary is used.
  package let address: String
  /// The name by which `pg_stat_activity` shows this process.
  package var applicationName = "tender"
  /// With what the names of all processes on the database begin.
  package var family = "tender"
  /// The version of the migrations that this process has; it ends the application's name.
  var schemaVersion: String?
  /// Connections of this process, each with a thread of its own.
  package var connections = 8
  /// Transactions that may wait for a connection; further ones are refused.
  package var queue = 1_024
  /// How long a transaction may wait for a connection, reconnecting and running again included.
  package var timeout: Duration = .seconds(5)
  /// The longest time of one statement.
  package var statementLimit: Duration = .seconds(5)
  /// The longest wait for a lock.
  package var lockLimit: Duration = .seconds(2)
  /// How long a transaction may be idle before PostgreSQL ends it, so that a stopped process holds no locks.
  package var idleLimit: Duration = .seconds(5)
  /// How long a commit may take, the wait for a synchronous standby included. Afterwards its outcome is unknown.
  package var commitLimit: Duration = .seconds(7)
  /// Read at every connect, so that a changed password needs no restart; nil when the address has what is needed.
  package var passwordFile: String?

  /// - Parameter address: a libpq connection string or `postgres://` address.
  package init(address: String) { self.address = address }

  /// Reads the address without connecting.
  ///
  /// - Throws: ``StorageError/connection(_:)`` for an address that libpq cannot read, and for one that would accept any
  ///   server's certificate on a network.
  package func check() throws(StorageError) {
    do { _ = try PostgresAddress(self) } catch let error as StorageError { throw error } catch {
      throw .connection("\(error)")
    }
  }

  package var description: String { "PostgreSQL for \(applicationName), \(connections) connections" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
