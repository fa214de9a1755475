import DirectWire
import HTTPTransport
import StrictJSON
package import TenderPayments

/// Fetches a basket from the merchant's own server: `GET {basketSource}/{basketId}`, signed as the calls to a `quoteURL`
/// are. The answer is the body of `PUT /v2/{merchantId}/baskets/{basketId}`, and is believed no more than that.
struct BasketSource {
  let sender: HTTPSender
  let clock: WallClock

  /// - Returns: nil where the merchant's server knows no such basket.
  /// - Throws: ``OrderError/Code/basketSourceUnavailable`` or ``OrderError/Code/basketSourceInvalid``.
  func document(_ id: BasketID, _ terms: MerchantTerms) async throws -> BasketDocument? {
    guard let request = request(id, terms) else { return nil }
    let answer: InboundResponse
    do { answer = try await sender.send(request, MerchantCallback.budget) } catch {
      throw OrderError(.basketSourceUnavailable, "the merchant's basketSource: \(error)")
    }
    guard answer.status != 404 else { return nil }
    guard answer.status == 200 else {
      throw OrderError(.basketSourceUnavailable, "the merchant's basketSource answered \(answer.status)")
    }
    do { return try StrictJSONDecoder().decode(BasketDocument.self, from: answer.body) } catch let error as JSONError {
      throw OrderError(.basketSourceInvalid, "the merchant's basket, \(error)")
    }
  }

  private func request(_ id: BasketID, _ terms: MerchantTerms) -> OutboundRequest? {
    guard let (url, signer) = terms.basketURL(of: id) else { return nil }
    let signed = signer.headers(method: "GET", contentType: "", pathAndQuery: url.target, body: [], at: clock.now())
    return OutboundRequest(method: "GET", url: url.text, headers: signed.map { HTTPField($0.name, $0.value) })
  }
}

extension OrderService {
  /// Takes a basket that is not here yet from the merchant's own server, by the rules of one that the merchant sends.
  /// Nothing happens where the merchant has no `basketSource`.
  ///
  /// - Throws: ``OrderError/Code/basketUnknown`` for an id that the merchant's server does not know, or that is another
  ///   merchant's.
  package func pull(_ id: BasketID, of merchant: MerchantID) async throws {
    let unknown = OrderError(.basketUnknown, "no such basket", field: "basketId")
    do throws(OrderError) { try BasketRules.checkID(id) } catch { throw unknown }
    let terms = await terms(merchant)
    guard
      let document = try await quotes.pulls.admit(
        merchant, orElse: OrderError.tooManyCalls(.basketSourceUnavailable),
        { try await quotes.baskets.document(id, terms) })
    else {
      throw unknown
    }
    do { try await put(document, as: id, of: merchant) } catch let error as OrderError {
      switch error.code {
      case .basketInvalid, .totalNotPositive:
        throw OrderError(.basketSourceInvalid, "the merchant's basket: \(error.detail)")
      case .basketIDTaken: throw unknown
      default: throw error
      }
    }
  }
}
