import Administration
import Foundation
import HTTPTransport
import Settings
import Storage
import TenderPayments
import TenderServer
import Testing

/// What `tender config check` and the start of the server say of a merchant.
@Suite struct `The check of a merchant's folder` {
  /// The merchant's own folder, in another place, with a line more.
  private func check(
    _ change: (_ folder: String, _ apiKey: (merchant: String, id: String, secret: String)) throws -> Void
  ) async throws -> [MerchantReport] {
    let system = try await TestSystem.shared.value
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-check-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let folder = directory + "/merchants/harbour"
    try FileManager.default.createDirectory(atPath: directory + "/merchants", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: system.directory + "/merchants/harbour", toPath: folder)
    let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
    try MerchantProvisioning.write(yaml + "callbackHosts: [\"shop.example\"]\n", to: folder + "/merchant.yaml")
    try change(folder, system.harbour.key)
    return try await MerchantFolder.check(
      ServerConfiguration(
        environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: system.sandbox.base,
        acquirer: .init(connector: "sandbox", baseURL: system.sandbox.base, apiKey: "")))
  }

  private func refusal(
    _ change: (_ folder: String, _ apiKey: (merchant: String, id: String, secret: String)) throws -> Void
  ) async -> ConfigurationError? {
    do {
      _ = try await check(change)
      return nil
    } catch { return error as? ConfigurationError }
  }

  @Test func `accepts the key for callbacks that was made with the merchant`() async throws {
    #expect(try await check { _, _ in }.count == 1)
  }

  private static func leaveOutIdentifier(in folder: String) throws {
    let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
    let rest = yaml.split(separator: "\n").filter { !$0.hasPrefix("merchantIdentifier") }.joined(separator: "\n")
    try MerchantProvisioning.write(rest + "\n", to: folder + "/merchant.yaml")
  }

  @Test func `takes the merchant identifier of the identity certificate where the settings have none`() async throws {
    let named = try await check { _, _ in }
    let found = try await check { folder, _ in try Self.leaveOutIdentifier(in: folder) }
    #expect(found.map(\.merchantIdentifier) == named.map(\.merchantIdentifier) && found.count == 1)
  }

  @Test func `demands a merchant identifier where no identity certificate names one`() async throws {
    let error = await refusal { folder, _ in
      try Self.leaveOutIdentifier(in: folder)
      try FileManager.default.removeItem(atPath: folder + "/identity.pem")
    }
    #expect(error?.description.contains("merchantIdentifier is missing") == true, "\(String(describing: error))")
  }

  @Test func `gives the store the merchant identifier of the identity certificate`() async throws {
    let system = try await TestSystem.shared.value
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-check-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let folder = directory + "/harbour"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: system.directory + "/merchants/harbour", toPath: folder)
    let named = try MerchantFolder.names(at: folder).merchantIdentifier
    try Self.leaveOutIdentifier(in: folder)
    let bundle = try await MerchantBundle(folder: folder, at: WallClock.system.now(), keysMayBeElsewhere: false)
    #expect(bundle.settings.contains("merchantIdentifier: \"\(named)\"\n"), "\(bundle.settings)")
  }

  @Test func `demands a key for callbacks where callbackHosts is set, with the command that makes one`() async throws {
    let error = await refusal { folder, _ in
      try FileManager.default.removeItem(atPath: folder + "/callback-keys")
    }
    #expect(error?.key.hasSuffix("/merchants/harbour/callback-keys") == true)
    #expect(error?.description.contains("openssl rand -hex 32 > ") == true)
  }

  @Test(arguments: [true, false])
  func `refuses an API key, by its id or by its secret, as the key for callbacks`(sharesID: Bool) async throws {
    let error = await refusal { folder, key in
      let (id, secret) = sharesID ? (key.id, "another secret, long enough") : ("zz", key.secret)
      try PrivateFile.write(secret, to: "\(folder)/callback-keys/\(id).secret")
      // The key that comes last by its id is the one in use.
      for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/callback-keys")
      where name != id + ".secret" { try FileManager.default.removeItem(atPath: "\(folder)/callback-keys/\(name)") }
    }
    #expect(error?.description.contains("key of their own") == true, "\(String(describing: error))")
  }

  @Test func `refuses to require digests of an API key that is not there`() async throws {
    let error = await refusal { folder, _ in
      let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
      try MerchantProvisioning.write(yaml + "requireContentDigest: [\"nobody\"]\n", to: folder + "/merchant.yaml")
    }
    #expect(error?.description.contains("api-keys/nobody.secret") == true)
  }

  private static func add(_ line: String, to folder: String) throws {
    let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
    try MerchantProvisioning.write(yaml + line + "\n", to: folder + "/merchant.yaml")
  }

  @Test(arguments: ["%@ baskets read", "%@ until=2027-01-31T00:00:00Z", "%@ refunds until=2027-01-31T00:00:00Z"])
  func `accepts limits of an API key`(_ limits: String) async throws {
    let reports = try await check { folder, key in
      try Self.add("apiKeyLimits: [\"\(limits.replacing("%@", with: key.id))\"]", to: folder)
    }
    #expect(reports.count == 1)
  }

  @Test(arguments: [
    "%@", "%@ everything", "%@ until=tomorrow", "%@ until=2027-01-31T00:00:00Z until=2028-01-31T00:00:00Z",
  ])
  func `refuses limits that say nothing`(_ limits: String) async throws {
    let error = await refusal { folder, key in
      try Self.add("apiKeyLimits: [\"\(limits.replacing("%@", with: key.id))\"]", to: folder)
    }
    #expect(error?.description.contains("apiKeyLimits") == true, "\(String(describing: error))")
  }

  @Test func `refuses two limits of one API key, and those of a key that is not there`() async throws {
    let twice = await refusal { folder, key in
      try Self.add("apiKeyLimits: [\"\(key.id) read\", \"\(key.id) baskets\"]", to: folder)
    }
    #expect(twice?.description.contains("has limits already") == true, "\(String(describing: twice))")
    let foreign = await refusal { folder, _ in try Self.add("apiKeyLimits: [\"nobody read\"]", to: folder) }
    #expect(foreign?.description.contains("api-keys/nobody.secret") == true)
  }

  @Test func `demands a key for callbacks where baskets are fetched, and an address with https`() async throws {
    let error = await refusal { folder, _ in
      let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
      let lines = yaml.split(separator: "\n").filter { !$0.hasPrefix("callbackHosts") }
      try MerchantProvisioning.write(lines.joined(separator: "\n") + "\n", to: folder + "/merchant.yaml")
      try Self.add("basketSource: https://shop.example/baskets", to: folder)
      try FileManager.default.removeItem(atPath: folder + "/callback-keys")
    }
    #expect(error?.key.hasSuffix("/callback-keys") == true)
    let plain = await refusal { folder, _ in try Self.add("basketSource: http://shop.example/baskets", to: folder) }
    #expect(plain?.description.contains("basketSource") == true)
  }

  @Test func `refuses an endpoint for orders that webhooks does not name`() async throws {
    let refused = await refusal { folder, _ in
      let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
      let changed = yaml.replacing("webhooksWithOrder: [orders]", with: "webhooksWithOrder: [kitchen]")
      try MerchantProvisioning.write(changed, to: folder + "/merchant.yaml")
    }
    #expect(refused?.reason.contains("webhooks has no endpoint “kitchen”") == true)
  }

  @Test(arguments: [
    ("kitchen", "s3cret-of-a-merchant", "standardWebhooks: webhooks has no endpoint “kitchen”"),
    ("orders", "s3cret-of-a-merchant", "base64 of 24 to 64 bytes"),
    ("orders", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", nil),
  ])
  func `refuses an endpoint of Standard Webhooks that is none, and one that no key signs for`(
    name: String, secret: String, words: String?
  ) async throws {
    let refused = await refusal { folder, _ in
      try Self.add("standardWebhooks: [\(name)]", to: folder)
      try PrivateFile.write(secret, to: folder + "/webhook-keys/zz.secret")
    }
    #expect(words.map { refused?.reason.contains($0) == true } ?? (refused == nil), "\(String(describing: refused))")
  }

  @Test(arguments: [
    ("\"a=https://x.example/1\", \"a=https://x.example/2\"", false),
    ("\"2=https://x.example/1\", \"https://x.example/2\"", false),
    ("\"a=https://x.example/1\", \"b=https://x.example/1\"", false),
    ("\"a=https://x.example/?b=c\", \"https://x.example/?a=b\"", true),
  ])
  func `refuses webhooks that name an endpoint or a URL twice`(entries: String, isGood: Bool) async throws {
    let error = await refusal { folder, _ in
      let yaml = try String(contentsOfFile: folder + "/merchant.yaml", encoding: .utf8)
      let others = yaml.split(separator: "\n").filter { !$0.hasPrefix("webhooks") }.joined(separator: "\n")
      try MerchantProvisioning.write(others + "\nwebhooks: [\(entries)]\n", to: folder + "/merchant.yaml")
    }
    #expect((error == nil) == isGood, "\(String(describing: error))")
  }
}
