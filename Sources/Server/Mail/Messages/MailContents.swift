package import TenderPayments
import TenderSheet

// The messages beside the warnings of an end.
extension MailContent {
  /// The payments that an operator must look at.
  ///
  /// - Parameter alarms: payment and reason.
  package static func alarms(_ alarms: [Row], count: Int, _ brand: MailBrand) -> MailContent {
    let language = brand.language
    var content = MailContent(
      subject: language.text(.alarmsSubject, ["count": "\(count)"]), paragraphs: [language.text(.alarmsBody)])
    content.rows = alarms
    return content
  }

  /// - Parameters:
  ///   - person: who invites.
  ///   - link: lets in whoever has it, until `end`.
  package static func invitation(
    from person: String, link: String, until end: Timestamp, _ brand: MailBrand
  ) -> MailContent {
    let (language, values) = (brand.language, ["person": person, "name": brand.name])
    var content = MailContent(
      subject: language.text(.invitationSubject, values), paragraphs: [language.text(.invitationBody, values)])
    content.action = Action(label: language.text(.invitationAction), url: link)
    content.note = language.text(.linkUntil, ["date": end.minute])
    return content
  }

  /// - Parameter link: lets in whoever has it, until `end`.
  package static func passwordReset(link: String, until end: Timestamp, _ brand: MailBrand) -> MailContent {
    let language = brand.language
    var content = MailContent(
      subject: language.text(.resetSubject), paragraphs: [language.text(.resetBody, ["name": brand.name])])
    content.action = Action(label: language.text(.resetAction), url: link)
    content.note = language.text(.linkUntil, ["date": end.minute]) + " " + language.text(.resetIgnore)
    return content
  }

  /// To the shopper, when the order is paid.
  ///
  /// - Parameters:
  ///   - isEstimate: whether the amount is what is held until the final one is known.
  ///   - lines: what the amount is made of; nil for an amount that is not known yet.
  ///   - card: as the sheet showed it.
  ///   - transaction: Apple's identifier.
  ///   - url: the order's page in the merchant's shop.
  package static func order(
    _ reference: String, amount: Amount, isEstimate: Bool = false, lines: [(label: String, amount: Amount?)],
    card: String? = nil, transaction: String? = nil, url: String?, _ brand: MailBrand
  ) -> MailContent {
    let (language, locale) = (brand.language, ShopperLocale(brand.locale))
    let values = ["reference": reference, "name": brand.name]
    var content = MailContent(
      subject: language.text(.orderSubject, values),
      paragraphs: [language.text(.orderBody, values), "\(language.text(.orderNumber)): \(reference)"])
    content.rows = lines.map { Row($0.label, $0.amount.map(locale.text) ?? locale.text(.amountPending)) }
    content.total = Row(isEstimate ? locale.text(.held) : language.text(.orderTotal), locale.text(amount))
    let payment = [(ShopperText.card, card), (.transaction, transaction)].compactMap { text, value in
      value.map { "\(locale.text(text)): \($0)" }
    }
    content.note = payment.isEmpty ? nil : payment.joined(separator: "\n")
    content.action = url.map { Action(label: language.text(.orderAction), url: $0) }
    return content
  }

  /// To the shopper, when money goes back.
  package static func refund(of reference: String, amount: Amount, _ brand: MailBrand) -> MailContent {
    let (language, locale) = (brand.language, ShopperLocale(brand.locale))
    let values = ["reference": reference, "name": brand.name, "amount": locale.text(amount)]
    return MailContent(
      subject: language.text(.refundSubject, values),
      paragraphs: [
        language.text(.refundBody, values), "\(language.text(.orderNumber)): \(reference)",
      ])
  }

  package static func test(_ brand: MailBrand) -> MailContent {
    let language = brand.language
    return MailContent(
      subject: language.text(.testSubject), paragraphs: [language.text(.testBody, ["name": brand.name])])
  }
}

extension Timestamp {
  /// `2026-11-21 10:00 UTC`
  fileprivate var minute: String { description.prefix(16).replacing("T", with: " ") + " UTC" }
}
