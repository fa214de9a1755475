import Foundation
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderServer

/// The store of a server: through the server while one runs, from the file when none does.
struct StoreAccess: Sendable {
  let path: String

  /// Asks the running server, or the store itself when no server runs.
  ///
  /// - Parameters:
  ///   - here: asks the file itself.
  ///   - there: method and path of the same question on a running server's admin socket, with its body.
  func ask<Answer: Codable & Sendable>(
    here: @Sendable (Journal) async throws -> Answer,
    there: (method: String, path: String), body: [UInt8] = []
  ) async throws -> Answer {
    guard FileManager.default.fileExists(atPath: path) else {
      throw MistakenCall("there is no store at \(path); --store names the server's")
    }
    let journal: Journal
    do { journal = try await PaymentAdministration.openExisting(path) } catch StorageError.busy {
      return try await askServer(there.method, there.path, body)
    } catch let error as StorageError {
      throw CallFailure("\(path): \(ErrorLine.text(for: error))")
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
  func askServer<Answer: Decodable>(
    _ method: String, _ target: String, _ body: [UInt8] = []
  ) async throws -> Answer {
    let file = path + ".sock"
    guard FileManager.default.fileExists(atPath: file) else { throw CallFailure("no server runs on \(path): start it") }
    let socket = file.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? file
    let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(target)", body: body)
    return try await LiveHTTPClient.during(maximumResponseBytes: 64 << 20) { sender in
      let answer: InboundResponse
      do throws(TransportError) { answer = try await sender.send(request, .seconds(method == "GET" ? 10 : 600)) } catch
      {
        throw CallFailure("the process that holds \(path) does not answer: \(error.words)")
      }
      guard answer.status == 200 else { throw CallFailure(JSONClient.Answer(answer).errorText) }
      return try StrictJSONDecoder().decode(Answer.self, from: answer.body)
    }
  }
}
