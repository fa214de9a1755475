import Administration
import Foundation
import HTTPTransport
package import Ledger
package import Settings
package import Storage
import StrictJSON
import TenderServer

/// The store of a server: through the server that holds the file while one runs, else the store itself. A store on
/// PostgreSQL is always asked itself, as one more node.
package struct StoreAccess: Sendable {
  /// Where a running server takes calls of its merchants, in the name of this user.
  package static var merchantCalls: String { "/merchants/calls?by=\(NSUserName().inQuery)" }

  package let place: StorePlace
  /// Where a running server is asked; nil for a store on PostgreSQL that no configuration names.
  private let socket: String?
  /// The keys of the contacts in the store.
  private let keys: RowKeys.Files?
  /// Whether the store itself is never opened.
  private var asksServerAlone = false

  /// - Parameter store: a path, or an address of PostgreSQL.
  package init(store: String) {
    place = StorePlace(store)
    socket = place.path.map { $0 + ".sock" }
    keys = place.path.map {
      RowKeys.Files(URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/contacts.keys")
    }
  }

  /// The server that runs on a store: its path as ``RunningServers`` has it.
  package init(running store: String) {
    self.init(store: store)
    asksServerAlone = true
  }

  package init(_ configuration: ServerConfiguration) {
    self.init(configuration.store, socket: configuration.adminSocketPath, keys: configuration.contactKeys)
  }

  package init(_ place: StorePlace, socket: String, keys: RowKeys.Files? = nil) {
    (self.place, self.socket, self.keys) = (place, socket, keys)
  }

  /// Asks the running server, or the store itself when no server runs. Root asks a file as the user whose folder it is
  /// in: the server could not read what root leaves there.
  ///
  /// - Parameters:
  ///   - here: asks the file itself.
  ///   - there: method and path of the same question on a running server's admin socket, with its body.
  package func ask<Answer: Codable & Sendable>(
    here: @Sendable (Journal) async throws -> Answer,
    there: (method: String, path: String), body: [UInt8] = []
  ) async throws -> Answer {
    guard !asksServerAlone else { return try await askServer(there.method, there.path, body) }
    if let path = place.path, !FileManager.default.fileExists(atPath: path) {
      throw MistakenCall("there is no store at \(path); --port, --config or --store names the server's")
    }
    let answer = try await FolderOwner.asOwner(besides: place.path ?? keys?.path) { try await askStore(here) }
    guard let answer else { return try await askServer(there.method, there.path, body) }
    return answer
  }

  /// - Returns: nil where another process holds the file.
  private func askStore<Answer: Sendable>(_ here: @Sendable (Journal) async throws -> Answer) async throws -> Answer? {
    let journal: Journal
    do { journal = try await ServerStore.openExisting(place, keys: keys) } catch StorageError.busy
      where place.path != nil
    {
      return nil
    } catch let error as StorageError {
      throw CallFailure("\(place.name): \(ErrorLine.text(for: error))")
    }
    do {
      let answer = try await here(journal)
      await journal.database.close()
      return answer
    } catch {
      await journal.database.close()
      throw error
    }
  }

  /// Asks the running server.
  package func askServer<Answer: Decodable>(
    _ method: String, _ target: String, _ body: [UInt8] = []
  ) async throws -> Answer {
    guard let file = socket else { throw MistakenCall("only a server can answer; --config names its configuration") }
    let advice = "start it, or name the one that runs by --port, --config or --store"
    guard FileManager.default.fileExists(atPath: file) else {
      throw CallFailure("no server runs on \(place.path ?? file): \(advice)")
    }
    if let answer: Answer = try await askServerIfRunning(method, target, body) { return answer }
    guard let path = place.path, StoreLock.isHeld(path: path) else {
      throw CallFailure(
        "no server runs on \(place.path ?? file): \(file) is left of one that has ended; \(advice)")
    }
    throw CallFailure("the process that holds \(path) does not answer: nothing listens on \(file)")
  }

  /// Asks the server if one runs.
  ///
  /// - Returns: nil where no process listens on the socket.
  /// - Throws: ``CallFailure`` where the server refuses.
  package func askServerIfRunning<Answer: Decodable>(
    _ method: String, _ target: String, _ body: [UInt8] = []
  ) async throws -> Answer? {
    guard let file = socket, FileManager.default.fileExists(atPath: file) else { return nil }
    let socket = file.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? file
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(target)", body: body)
    return try await LiveHTTPClient.during(maximumResponseBytes: 64 << 20) { sender in
      let answer: InboundResponse
      do throws(TransportError) { answer = try await sender.send(request, .seconds(method == "GET" ? 10 : 600)) } catch
      {
        guard !error.isAbsence else { return nil }
        throw CallFailure("the process that holds \(place.path ?? file) does not answer: \(error.words)")
      }
      guard answer.status == 200 else { throw CallFailure(JSONClient.Answer(answer).errorText) }
      return try StrictJSONDecoder().decode(Answer.self, from: answer.body)
    }
  }
}

extension String {
  /// As it stands in the query of a call.
  package var inQuery: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
}
