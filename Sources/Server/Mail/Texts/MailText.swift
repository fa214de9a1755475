import TenderSheet

/// A text of a message. ``ShopperLanguage`` has each in every language; `{…}` are placeholders.
enum MailText: String, Sendable, Hashable, CaseIterable {
  /// What expires.
  case identityCertificate, processingCertificate, siteCertificate, domainVerification
  /// `{thing}` of `{name}` in `{days}`; with the day, `{date}`, in the text.
  case expirySubject, expiryBody
  /// The `{days}`.
  case lessThanOneDay, oneDay, manyDays
  /// What does not work afterwards.
  case identityEffect, processingEffect, siteEffect, verificationEffect
  /// What to do.
  case certificateRemedy, siteRemedy, verificationRemedy
  /// `{count}` payments have alarms.
  case alarmsSubject, alarmsBody
  /// `{person}` invites to `{name}`.
  case invitationSubject, invitationBody, invitationAction
  case resetSubject, resetBody, resetAction, resetIgnore
  /// Until `{date}`.
  case linkUntil
  /// The order `{reference}` at `{name}`.
  case orderSubject, orderBody, orderNumber, orderTotal, orderAction
  /// `{amount}` goes back.
  case refundSubject, refundBody
  case testSubject, testBody
}

extension ShopperLanguage {
  /// The text with its placeholders filled in.
  func text(_ text: MailText, _ values: [String: String] = [:]) -> String {
    let template = mailTable[text] ?? Self.englishMail[text] ?? ""
    // Piece by piece, so that a value that looks like a placeholder stays as it is.
    return template.split(separator: "{", omittingEmptySubsequences: false).enumerated().map { index, piece in
      guard index > 0, let end = piece.firstIndex(of: "}") else { return String(piece) }
      return (values[String(piece[..<end])] ?? "") + piece[piece.index(after: end)...]
    }.joined()
  }

  /// Every text of the language.
  var mailTable: [MailText: String] {
    switch self {
    case .english: Self.englishMail
    case .german: Self.germanMail
    case .dutch: Self.dutchMail
    case .swedish: Self.swedishMail
    case .danish: Self.danishMail
    case .french: Self.frenchMail
    case .spanish: Self.spanishMail
    case .italian: Self.italianMail
    case .portuguese: Self.portugueseMail
    case .polish: Self.polishMail
    case .finnish: Self.finnishMail
    case .japanese: Self.japaneseMail
    case .arabic: Self.arabicMail
    }
  }
}
