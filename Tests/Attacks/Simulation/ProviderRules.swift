import TenderPayments

// By what rules the banks of the simulation work, as their providers document them. What a connector states is not used
// here: the two are compared.
extension BankProfile.Conduct {
  /// Whether it decrypts payment tokens.
  var takesSealed: Bool { self != .worldlineAcquiring }

  var sendsEvents: Bool { self != .worldlineAcquiring }

  /// Whether it sends an event of an authorization that it has answered at once.
  var announcesAuthorizations: Bool {
    switch self {
    case .adyen, .unaskable, .stripe, .checkoutCom, .worldlineDirect: true
    case .sandbox, .braintree, .worldlineAcquiring: false
    }
  }

  /// The same of a capture or refund.
  var announcesOperations: Bool { self == .braintree || self == .stripe }

  /// Whether a capture, void or refund is accepted first and decided later, in so many of a thousand requests.
  ///
  /// - Parameter isSealed: the sandbox's provider for sealed tokens does so sometimes.
  func acceptsFirst(_ kind: String, isSealed: Bool) -> Int {
    switch self {
    case .adyen, .checkoutCom: 1_000
    case .worldlineDirect: kind == "void" ? 0 : 1_000
    case .unaskable: 250
    case .stripe: kind == "refund" ? 400 : 0
    case .sandbox: isSealed ? 250 : 0
    case .braintree, .worldlineAcquiring: 0
    }
  }

  /// Whether a repeat gets the first answer, whatever was decided since.
  var keepsFirstAnswer: Bool {
    switch self {
    case .adyen, .stripe, .checkoutCom, .worldlineDirect: true
    case .sandbox, .braintree, .unaskable, .worldlineAcquiring: false
    }
  }

  /// Whether what it has done may come back, and its event says so.
  func takesBack(_ kind: String) -> Bool {
    switch self {
    case .sandbox, .adyen, .braintree, .unaskable: true
    case .stripe, .worldlineDirect: kind == "refund"
    case .checkoutCom, .worldlineAcquiring: false
    }
  }

  /// Whether the event that something came back has a name of its own, so that it may overtake the one that it was done.
  var namesReturns: Bool {
    switch self {
    case .adyen, .braintree, .stripe: true
    case .sandbox, .unaskable, .checkoutCom, .worldlineDirect, .worldlineAcquiring: false
    }
  }

  /// Whether it may do what it declined after it had accepted it.
  var reconsiders: Bool {
    switch self {
    case .sandbox, .adyen, .unaskable, .worldlineDirect: true
    case .braintree, .stripe, .checkoutCom, .worldlineAcquiring: false
    }
  }

  /// Whether it holds money for 30 days, which is longer than a simulation: a pre-authorization.
  var holdsForWeeks: Bool { self == .worldlineDirect }

  /// Whether a hold can be raised, as that of a pre-authorization.
  var raisesHolds: Bool { self == .worldlineAcquiring }

  /// Whether a void is a change of its authorization, whose status is the only answer to an inquiry.
  var voidsWithoutName: Bool { self == .braintree || self == .stripe }

  /// How long a key is remembered; nil for ever.
  var memory: Duration? {
    switch self {
    case .stripe, .checkoutCom, .worldlineDirect, .worldlineAcquiring: .seconds(86_400)
    case .adyen: .seconds(86_400 * 7)
    case .sandbox, .braintree, .unaskable: nil
    }
  }

  /// Where a request ends with an error of the provider although it was done.
  enum Failure { case remembered, forgotten, found }

  /// What becomes of the key then: a repeat gets the error again, is another request, or gets the answer.
  var failure: Failure {
    switch self {
    case .stripe: .remembered
    case .checkoutCom: .forgotten
    case .sandbox, .adyen, .braintree, .unaskable, .worldlineDirect, .worldlineAcquiring: .found
    }
  }
}

/// What only one kind of bank does. 5,000 seeds meet all of it.
enum Peculiarity: String, CaseIterable {
  case errorRemembered = "stripe repeats an error under its key"
  case errorForgotten = "checkout-com forgets a key with its error"
  case askedByName = "worldline-direct finds what it has named"
  case askedWithoutName = "worldline-acquiring finds no authorization by our reference"
  case undone = "worldline-acquiring undoes an authorization by our reference"
  case undoneTooEarly = "worldline-acquiring undoes nothing yet"
  case cancelFailed = "adyen accepts a cancel and fails"
  case cancelEmpty = "adyen accepts a cancel of what it does not hold"
}
