import ApplePayToken
import Gateway
import HTTPTypes
import HostedCheckout
import MerchantIdentity
import Orders
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments

/// Maps the errors of the modules to problems. The modules define the codes, this table the statuses.
package enum ProblemTable {
  package static func problem(for error: any Error) -> Problem {
    switch error {
    case let problem as Problem: problem
    case let error as OrderError:
      Problem(
        status(error.code), error.code.rawValue, "\(error.detail). \(error.advice)", field: error.field,
        sheetErrors: error.sheetErrors)
    case let error as GatewayError: gateway(error)
    case let error as QueryRefused: Problem(.badRequest, "query_invalid", error.reason, field: error.parameter)
    case let error as CustomerInputRefusal:
      Problem(.badRequest, error.code, error.reason, field: "encryptedCustomerInput")
    case let error as HostedCheckoutError: Problem(error)
    case let error as MerchantStoreError: Problem(.conflict, error.code.rawValue, error.reason)
    case let error as PaymentTokenError where error.code == .keyAgentUnavailable:
      Problem(
        .serviceUnavailable, error.code.rawValue, "The payment token cannot be opened at the moment.", retryAfter: 2)
    case let error as PaymentTokenError:
      Problem(
        .unprocessableContent, error.code.rawValue, "\(error.reason). \(error.advice)", field: error.field ?? "token")
    case let error as ValidationURLError:
      Problem(.badRequest, error.code.rawValue, "\(error.reason) \(error.advice)", field: "validationURL")
    case let error as MerchantSessionError:
      Problem(
        error.code == .gatewayTimeout ? .gatewayTimeout : .badGateway, error.code.rawValue,
        "\(error.reason) \(error.advice)")
    case StorageError.outcomeUnknown:
      Problem(
        .serviceUnavailable, "outcome_not_recorded",
        "The store did not say whether this call was done. Ask what became of it before you repeat it.")
    case is StorageError:
      Problem(.serviceUnavailable, "store_unavailable", "The store does not take writes at the moment.", retryAfter: 2)
    default: Problem(.internalServerError, "internal_error", "Something is wrong on our side. Quote the request id.")
    }
  }

  /// The part of an error that may be logged. Our errors hold no card data; of any other only the type is logged.
  package static func safe(_ error: any Error) -> String {
    switch error {
    case is StorageError, is MerchantSessionError, is GatewayError, is OrderError, is PaymentTokenError: "\(error)"
    default: "\(type(of: error))"
    }
  }

  private static func status(_ code: OrderError.Code) -> HTTPResponse.Status {
    switch code {
    case .basketUnknown, .quoteUnknown, .guestUnknown: .notFound
    case .basketIDWeak, .basketInvalid, .totalNotPositive, .shippingMethodUnknown, .serviceUnavailable:
      .badRequest
    case .basketIDTaken, .basketPlaced, .basketCancelled, .quoteForeign, .quoteStale, .totalPending,
      .paymentInProgress, .guestClaimed, .attemptsUsedUp:
      .conflict
    case .basketExpired: .gone
    case .quoteSourceUnavailable, .quoteSourceInvalid, .basketSourceUnavailable, .basketSourceInvalid: .badGateway
    case .applePayDisabled, .termsNotAccepted: .forbidden
    case .contactIncomplete, .addressUnserviceable, .addressChangesPrice, .agreementNotOffered: .unprocessableContent
    }
  }

  private static func gateway(_ error: GatewayError) -> Problem {
    let isUnknown = ["payment_not_found", "agreement_not_found"].contains(error.code)
    return switch error {
    case .paymentInProgress:
      Problem(.conflict, error.code, "\(error.reason). \(error.advice)", retryAfter: 2)
    case .overloaded, .outOfTime:
      Problem(.serviceUnavailable, error.code, "\(error.reason). \(error.advice)", retryAfter: 1)
    case .outcomeNotRecorded:
      Problem(.serviceUnavailable, error.code, "\(error.reason). \(error.advice)")
    case .callInProgress:
      Problem(.conflict, error.code, "\(error.reason). \(error.advice)", retryAfter: 1)
    case .currencyNotTaken, .amountTooFine, .noRoute, .partNotPossible, .noListing, .agreementNotOffered,
      .agreementNotChargeable:
      Problem(.unprocessableContent, error.code, "\(error.reason). \(error.advice)")
    case .routeNotReconciled:
      Problem(.serviceUnavailable, error.code, "\(error.reason). \(error.advice)", retryAfter: 60)
    case .tokenBeforeRestore:
      Problem(.unprocessableContent, error.code, "\(error.reason). \(error.advice)", field: "token")
    case .tokenReused, .acquirerNotConfigured, .answerMayCome, .operationRefused, .paidBeforeRestore, .callMayBeLost,
      .agreementRefused:
      Problem(isUnknown ? .notFound : .conflict, error.code, "\(error.reason). \(error.advice)")
    }
  }
}

extension Problem {
  fileprivate init(_ error: HostedCheckoutError) {
    let status: HTTPResponse.Status =
      switch error.code {
      case .checkoutUnknown: .notFound
      case .checkoutInvalid, .paymentProductExcluded: .badRequest
      case .linkClosed: .conflict
      }
    self.init(status, error.code.rawValue, error.detail, field: error.field)
  }
}
