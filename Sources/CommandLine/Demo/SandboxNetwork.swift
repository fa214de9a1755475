import AcquirerSandbox
import AppleSandbox
import CommandSupport
import HTTPTransport

extension AssociationFetch {
  /// Fetches over the network, as Apple does, without following redirects.
  static func over(_ sender: HTTPSender) -> AssociationFetch {
    AssociationFetch { url in
      let answer = try await sender.knowingLoopback.send(OutboundRequest(method: "GET", url: url), .seconds(5))
      return (answer.status, answer.body)
    }
  }
}

extension EventDelivery {
  /// Posts over the network. What is not answered with 2xx is posted again later.
  static func over(_ sender: HTTPSender) -> EventDelivery {
    @Sendable func isTaken(_ url: String, _ headers: [HTTPField], _ body: [UInt8]) async -> Bool {
      let request = OutboundRequest(method: "POST", url: url, headers: headers, body: body)
      do throws(TransportError) {
        return (200..<300).contains(try await sender.send(request, .seconds(5)).status)
      } catch { return false }
    }
    @Sendable func isOK(_ url: String) async -> Bool {
      let request = OutboundRequest(method: "GET", url: url)
      do throws(TransportError) {
        return try await sender.knowingLoopback.send(request, .seconds(5)).status == 200
      } catch { return false }
    }
    return EventDelivery(
      form: { url, body in
        await isTaken(url, [HTTPField("Content-Type", "application/x-www-form-urlencoded")], body)
      },
      headers: { url, headers, body in
        let fields = headers.map { HTTPField($0.name, $0.value) }
        return await isTaken(url, [HTTPField("Content-Type", "application/json")] + fields, body)
      },
      get: isOK,
      post: { url, signature, body in
        // Some providers sign inside the body.
        let signatures = signature.isEmpty ? [] : [HTTPField("Sandbox-Signature", signature)]
        return await isTaken(url, [HTTPField("Content-Type", "application/json")] + signatures, body)
      })
  }
}
