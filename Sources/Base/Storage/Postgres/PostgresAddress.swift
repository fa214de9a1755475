import CLibPQ

/// The parameters of a connection: those of the address, and what Tender demands of every connection.
struct PostgresAddress {
  private(set) var parameters: [String: String]

  /// - Throws: ``StorageError/connection(_:)`` for an address that libpq cannot read, and for one that would accept
  ///   any server's certificate on a network.
  init(_ settings: PostgresSettings) throws {
    parameters = try Self.parsed(settings.address)
    guard parameters["service"] == nil else {
      throw StorageError.connection("the database's address must name its host itself, not a service")
    }
    // From PGHOST, PGHOSTADDR and PGSERVICE: the rule about certificates has to know every host.
    let environment = Self.values(PQconndefaults())
    for name in ["host", "hostaddr"] { parameters[name] = parameters[name] ?? environment[name] }
    try demandVerification()
    parameters["target_session_attrs"] = "read-write"
    parameters["client_encoding"] = "UTF8"
    setDefault("application_name", settings.applicationName)
    if let version = settings.schemaVersion { parameters["application_name"]?.append("/\(version)") }
    // For each host: one that is down without saying so must not hold up the others for long.
    setDefault("connect_timeout", "2")
    setDefault("tcp_user_timeout", "\(settings.statementLimit.milliseconds)")
    setDefault("keepalives_idle", "10")
    if let file = settings.passwordFile {
      parameters["password"] = try PrivateFile.text(file).trimmingSuffix(while: \.isNewline)
    }
  }

  /// One address for each host. Lists of different lengths stay as they are: libpq refuses them.
  var ofEachHost: [PostgresAddress] {
    let lists = ["host", "hostaddr", "port"].compactMap { name in
      parameters[name].map { (name, $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)) }
    }
    let count = lists.map(\.1.count).max() ?? 1
    guard lists.allSatisfy({ $0.1.count == count || $0.0 == "port" && $0.1.count == 1 }) else { return [self] }
    return (0..<count).map { place in
      var one = self
      for (name, values) in lists { one.parameters[name] = values.count == 1 ? values[0] : values[place] }
      return one
    }
  }

  private mutating func setDefault(_ name: String, _ value: String) {
    parameters[name] = parameters[name] ?? value
  }

  /// `require` and weaker modes encrypt without knowing for whom.
  private mutating func demandVerification() throws {
    guard !isLocal else { return }
    setDefault("sslmode", "verify-full")
    guard parameters["sslmode"] == "verify-full" else {
      throw StorageError.connection("sslmode must be verify-full for a database on another machine")
    }
  }

  /// Whether every host is this machine: a Unix socket or a loopback address.
  private var isLocal: Bool {
    ["host", "hostaddr"].flatMap { (parameters[$0] ?? "").split(separator: ",") }.allSatisfy { host in
      host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }

  private static func parsed(_ address: String) throws -> [String: String] {
    // libpq's own message would quote a part of the address, which may be the password.
    guard let options = PQconninfoParse(address, nil) else {
      throw StorageError.connection("the database's address is not a libpq connection string or postgres:// address")
    }
    return values(options)
  }

  /// Frees the options.
  private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let current = option?.pointee, let keyword = current.keyword {
      if let value = current.val { values[String(cString: keyword)] = String(cString: value) }
      option? += 1
    }
    return values
  }
}

extension Duration {
  var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
    var text = self
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return text
  }
}
