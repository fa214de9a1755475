import ApplePayToken
import DirectWire
import Gateway
package import StrictJSON

extension PlatformPayments {
  /// Turns what the wire names itself into its refusals; other errors pass, with codes of their own.
  func refusing<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let error as JSONError {
      throw PlatformRefusal(PlatformFault(error))
    } catch let error as PaymentTokenError where error.code != .keyAgentUnavailable {
      throw PlatformRefusal(PlatformFault(error))
    } catch let error as GatewayError where error == .tokenReused || error == .tokenBeforeRestore {
      throw PlatformRefusal(
        .init(
          ours: error.code, status: 400, detail: error.reason, property: Self.encryptedData, isRetriable: false))
    }
  }

  static let input = "mobilePaymentMethodSpecificInput"
  static let encryptedData = input + ".encryptedPaymentData"
}

extension PlatformFault {
  /// What is wrong with a body, under the name of the property.
  package init(_ error: JSONError) {
    let path = error.path.map { String($0.drop { $0 == "$" || $0 == "." }) } ?? ""
    self = error.code == .missing ? .missing(path) : .invalidValue(path, error.reason)
  }

  /// What is wrong with the payment token.
  fileprivate init(_ error: PaymentTokenError) {
    let property = PlatformPayments.encryptedData + (error.field.map { ".\($0)" } ?? "")
    self.init(
      ours: error.code.rawValue, status: 400, detail: "\(error.reason). \(error.advice)", property: property,
      isRetriable: false)
  }

  /// Nothing reached the acquirer.
  static let unreached = PlatformFault(
    ours: "acquirer_unreachable", status: 502, detail: "The acquirer was not reached. Nothing was done.", property: nil,
    isRetriable: true)
}
