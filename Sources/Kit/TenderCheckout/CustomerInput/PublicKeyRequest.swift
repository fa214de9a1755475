import StrictJSON

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension ClientSession {
  /// Fetches the public key of this session's server.
  ///
  /// - Throws: ``CustomerInputError``
  public func publicKey(via network: URLSession = .shared) async throws -> CustomerInputPublicKey {
    guard let url = URL(string: address + "/crypto/publickey") else { throw CustomerInputError.noPublicKey(status: 0) }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 10)
    request.setValue("GCS v1Client:\(clientSessionId)", forHTTPHeaderField: "Authorization")
    guard let (data, response) = try? await network.data(for: request) else {
      throw CustomerInputError.noPublicKey(status: 0)
    }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200, let key = try? StrictJSONDecoder().decode(CustomerInputPublicKey.self, from: Array(data))
    else { throw CustomerInputError.noPublicKey(status: status) }
    return key
  }
}
