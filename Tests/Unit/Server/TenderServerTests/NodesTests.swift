import Foundation
import Logging
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite(.enabled(if: PostgresUnderTest.isPresent)) struct `Two nodes on one PostgreSQL` {
  @Test func `take a payment at one that was begun at the other, and answer alike`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let other = shopper.at(second)
    let payment = try await shopper.payment(try await shopper.token())
    let answer = try await other.pays(payment)
    #expect(answer.status == 200 && answer.body["status"] == "captured", "\(answer.errorText)")
    for again in [try await shopper.pays(payment), try await shopper.outcome()] {
      #expect(again.body == answer.body && again.status == 200)
    }
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `take a payment that both get at once only once`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let payment = try await shopper.payment(try await shopper.token())
    let answers = try await withThrowingTaskGroup(of: JSONClient.Answer.self) { group in
      for number in 0..<32 {
        let shopper = shopper.at(number.isMultiple(of: 2) ? first : second)
        group.addTask { try await shopper.pays(payment) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.contains { $0.status == 200 })
    for answer in answers {
      #expect(answer.status == 200 || answer.body["code"] == "payment_in_progress", "\(answer.errorText)")
    }
    #expect(try await shopper.holds().count == 1)
  }

  @Test func `refuse a payment token at one that was used at the other`() async throws {
    let (first, second) = try await nodes()
    let shopper = try await collecting(first)
    let token = try await shopper.token()
    #expect(try await shopper.pays(try await shopper.payment(token)).status == 200)
    let thief = try await collecting(second)
    let answer = try await thief.pays(try await thief.payment(token))
    #expect(answer.status >= 400)
    #expect(try await thief.holds().isEmpty)
  }

  @Test func `refuse a node whose guest token key is another one, before it listens`() async throws {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    _ = try await system.secondServer { cluster.add(&$0) }
    await #expect {
      _ = try await system.secondServer {
        cluster.add(&$0)
        $0.guestTokenKeyFile = $0.storePath + ".guest-token.key"
      }
    } throws: { "\($0)".contains("guestTokens.keyFile") }
  }

  @Test func `refuse a second node at the first one's socket`() async throws {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    let socket = FileManager.default.temporaryDirectory.appending(path: "n\(RandomBytes.system.hex(4)).sock").path
    _ = try await system.secondServer {
      cluster.add(&$0)
      $0.adminSocket = socket
    }
    await #expect {
      _ = try await system.secondServer {
        cluster.add(&$0)
        $0.adminSocket = socket
      }
    } throws: { "\($0)".contains("administration.socket") }
  }

  /// Two servers on one new database.
  private func nodes() async throws -> (Shopfront, Shopfront) {
    let system = try await TestSystem.shared.value
    let cluster = try await Cluster()
    return (
      try await system.secondServer { cluster.add(&$0) }, try await system.secondServer { cluster.add(&$0) }
    )
  }

  private func collecting(_ shop: Shopfront) async throws -> Shopper {
    let shopper = try await Shopper.enters(try await TestSystem.shared.value, shop, service: "collection")
    return shopper
  }
}

@Suite struct `The address of a store on PostgreSQL` {
  @Test(arguments: [
    ("mysql://db/tender", "something else"),
    ("postgres://tender:hunter2@db.example.com/tender?sslmode=require", "sslmode must be verify-full"),
    ("postgres://tender:hunter2@db.example.com/tender?colour=red", "not a libpq connection string"),
  ])
  func `is checked before anything connects, and stays out of the message`(
    address: String, reason: String
  ) async throws {
    let refusal = await #expect(throws: ConfigurationError.self) {
      _ = try await ServerConfiguration.load(file: nil, variables: ["TENDER_STORE_URL": address])
    }
    let text = refusal?.diagnostic ?? ""
    #expect(text.contains("store.url") && text.contains(reason), "\(text)")
    #expect(!text.contains("hunter2") && !text.contains("mysql:"), "\(text)")
  }
}

/// A new database, and the keys that all of its nodes share.
private struct Cluster {
  let address: String
  private let files: String

  init() async throws {
    address = try await EmptyDatabase(.postgres).address
    files = FileManager.default.temporaryDirectory.appending(path: "tender-nodes-\(RandomBytes.system.hex(4))").path
  }

  func add(_ node: inout ServerConfiguration) {
    node.storeURL = address
    node.adminSocket = nil
    node.guestTokenKeyFile = files + "/guest-token.key"
    node.fingerprintKeyFile = files + "/fingerprint.key"
    node.storeKeyFile = files + "/store.key"
  }
}
