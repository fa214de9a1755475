import AcquirerSandbox
import HTTPTransport

extension EventDelivery {
  /// Posts over the network. What is not answered with 2xx is posted again later.
  static func over(_ sender: HTTPSender) -> EventDelivery {
    EventDelivery { url, signature, body in
      // Some providers sign inside the body.
      let signatures = signature.isEmpty ? [] : [HTTPField("Sandbox-Signature", signature)]
      let request = OutboundRequest(
        method: "POST", url: url, headers: [HTTPField("Content-Type", "application/json")] + signatures, body: body)
      do throws(TransportError) {
        return (200..<300).contains(try await sender.send(request, .seconds(5)).status)
      } catch { return false }
    }
  }
}
