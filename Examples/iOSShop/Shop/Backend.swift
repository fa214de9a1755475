import Foundation
import TenderPayments
import TenderSheet

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The shop's own backend: it knows the prices and makes the baskets.
struct Backend: Sendable {
  let address: URL

  struct Dish: Decodable, Identifiable, Hashable, Sendable {
    let id: String
    let name: String
    let description: String
    /// Minor units.
    let amount: Int64
  }

  struct Menu: Decodable, Sendable {
    let currency: String
    let dishes: [Dish]
  }

  private struct Order: Encodable {
    struct Item: Encodable {
      let id: String
      let quantity: Int
    }
    let serviceType: String
    let items: [Item]
  }

  private struct Made: Decodable { let basketId: String }

  func menu() async throws -> Menu {
    try JSONDecoder().decode(Menu.self, from: try await call(URLRequest(url: url("api/menu"))))
  }

  /// Dishes by name and number, never prices.
  func basket(_ dishes: [String: Int], _ service: ServiceType) async throws -> BasketID {
    var request = URLRequest(url: url("api/baskets"))
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(
      Order(
        serviceType: service.rawValue,
        items: dishes.map { Order.Item(id: $0.key, quantity: $0.value) }.sorted { $0.id < $1.id }))
    let made = try JSONDecoder().decode(Made.self, from: try await call(request))
    return BasketID(made.basketId)
  }

  private func url(_ path: String) -> URL { address.appendingPathComponent(path) }

  private func call(_ request: URLRequest) async throws -> Data {
    let (data, response) = try await URLSession.shared.data(for: request)
    guard let response = response as? HTTPURLResponse, (200..<300).contains(response.statusCode) else {
      throw URLError(.badServerResponse)
    }
    return data
  }
}
