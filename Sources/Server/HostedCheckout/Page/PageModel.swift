import Orders
import TenderPayments
import TenderSheet

/// What the templates show of a checkout.
struct PageModel {
  let shown: ShownCheckout
  let format: ShopperFormat
  /// `scheme://host[:port]` of the pages.
  let origin: String
  let environment: TenderPayments.Environment
  let now: Timestamp

  init(_ shown: ShownCheckout, on origin: String, in environment: TenderPayments.Environment, at now: Timestamp) {
    (self.shown, self.origin, self.environment, self.now) = (shown, origin, environment, now)
    format = ShopperFormat(shown.checkout.locale)
  }

  private var look: HostedVariant { shown.merchant.variant(shown.checkout.variant) }
  private var merchant: String { look.name ?? shown.merchant.name }
  private var path: String { HostedPaths.page(shown.checkout.id) }
  private var amount: String { format.amount(shown.basket.total) }

  private var values: [String: String] { ["merchant": merchant, "amount": amount] }

  /// What all pages of a checkout share.
  var frame: [String: Any] {
    var frame: [String: Any] = [
      "lang": format.tag, "dir": format.locale.language.direction, "merchant": merchant, "page": path,
      "title": format.text(.title, values), "heading": format.text(.title, values), "state": shown.state.rawValue,
      "server": origin + path, "basket": shown.checkout.id.rawValue, "script": true,
    ]
    frame["payHeading"] = format.text(.payHeading, values)
    if !look.css.utf8.allSatisfy({ $0 == UInt8(ascii: "\n") }) { frame["look"] = "\(path)/variant.css" }
    if look.logo != nil { frame["logo"] = "\(path)/logo" }
    switch environment {
    case .simulated: frame["ribbon"] = format.text(.simulated)
    case .appleSandbox: frame["ribbon"] = format.text(.test)
    case .production: break
    }
    let ancestors = shown.merchant.frameAncestors
    if !ancestors.isEmpty { frame["isFramed"] = true }
    // The browser has to say which of several it is.
    if ancestors.count == 1 { frame["topOrigin"] = ancestors[0] }
    return frame
  }

  private var order: [String: Any] {
    var order: [String: Any] = [
      "order": format.text(.order), "totalLabel": format.text(.total), "total": amount,
      "lines": shown.basket.lines.map { ["label": $0.label, "amount": format.amount($0.amount)] },
      "referenceLabel": format.text(.reference), "reference": shown.checkout.merchantReference,
      "recipientLabel": format.text(.recipient),
    ]
    order["recipient"] = shown.checkout.recipientName
    return order
  }
}

// The page of an open checkout.
extension PageModel {
  var open: [String: Any] {
    var page = frame.merging(order) { own, _ in own }
    page["handover"] = "\(path)/handover"
    let isRefused = shown.merchant.refusal(now) != nil
    let isOffered = !isRefused && shown.merchant.isOffered(in: shown.checkout.country)
    (page["isOffered"], page["kit"]) = (isOffered, isOffered)
    page["declined"] = shown.basket.wasDeclined ? format.text(.declinedBefore) : nil
    page["attempts"] = attempts
    if shown.checkout.kind == .session {
      (page["cancel"], page["cancelLabel"]) = ("\(path)/cancel", format.text(.cancel, values))
    }
    page["reasons"] = reasons
    page["tryAgain"] = format.locale.text(.tryAgain)
    for text in Self.plain { page[text.rawValue] = format.text(text) }
    page["notOffered"] = format.text(isRefused ? .unavailable : .notInRegion)
    return page.merging(time) { own, _ in own }
  }

  private static let plain: [HostedText] = [
    .reasonTitle, .noScript, .noCard, .phoneShow, .phoneTitle, .codePicture, .sheetClosed,
    .connectionLost,
  ]

  /// Nil until an attempt was made.
  var attempts: String? {
    guard shown.basket.attemptsUsed > 0, let left = shown.basket.attemptsLeft else { return nil }
    return CountedText.attemptsLeft.text(in: format.locale, left)
  }

  /// By the kit's code; the last is shown for every other.
  private var reasons: [[String: String]] {
    let texts: [(String, HostedText)] = [
      ("no_apple_pay", .noApplePay), ("device_cannot_pay", .noDevice), ("version_too_old", .tooOld),
      ("disabled", .unavailable),
    ]
    return texts.map { ["code": $0.0, "text": format.text($0.1)] }
  }

  /// Minutes when the end is near, and a moment before; the script counts on.
  private var time: [String: Any] {
    let end = shown.basket.expiresAt
    let minutes = (end.since(now).microseconds + 59_999_999) / 60_000_000
    let forms = CountedText.minutesLeft.forms(in: format.locale)
    var time: [String: Any] = [
      "until": end.description, "openUntil": format.text(.openUntil), "untilText": format.text(.openUntil, at: end),
      "forms": forms.sorted { $0.key.rawValue < $1.key.rawValue }.map { ["name": $0.key.rawValue, "text": $0.value] },
    ]
    if minutes <= 60 { time["minutes"] = CountedText.minutesLeft.text(in: format.locale, minutes) }
    return time
  }
}

// The pages of a checkout that is paid, or may be, or cannot be any more.
extension PageModel {
  var result: [String: Any] {
    var page = frame.merging(order) { own, _ in own }
    let (heading, text) = words
    (page["heading"], page["text"]) = (format.text(heading, values), text)
    page["hasOrder"] = shown.state == .paid || shown.state == .processing
    page["payment"] = payment.map { ["label": format.locale.text($0.0), "value": $0.1] }
    page["refreshes"] = shown.state == .processing ? true : nil
    if shown.state.isEnded, shown.checkout.returnURL != nil {
      (page["back"], page["backLabel"]) = ("\(path)/return", format.text(.goBack, values))
    }
    return page
  }

  private var words: (HostedText, String) {
    switch shown.state {
    case .open, .processing: (.processingTitle, processing)
    case .paid: (.paidTitle, format.text(isHeld ? .authorizedText : .paidText, values))
    case .refused: (.refusedTitle, format.text(.refusedText))
    case .cancelled:
      (.cancelledTitle, format.text(shown.checkout.kind == .link ? .linkCancelledText : .cancelledText, values))
    case .expired: (.expiredTitle, format.text(.expiredText))
    }
  }

  /// The card as the sheet showed it, and Apple's identifier of the transaction.
  private var payment: [(ShopperText, String)] {
    guard shown.state == .paid, let payment = shown.basket.payment else { return [] }
    return [(ShopperText.card, payment.card.name), (.transaction, payment.transactionIdentifier)].compactMap {
      text, value in value.map { (text, $0) }
    }
  }

  /// After *failure* was reported, a late approval is only reversed.
  private var processing: String {
    shown.basket.payment?.reportedOutcome == .failure
      ? format.locale.text(.notConfirmed) : format.text(.processingText)
  }

  private var isHeld: Bool { shown.basket.payment?.status == .authorized }

  /// The page with a code for a phone, for browsers without JavaScript.
  func phone(_ handover: Handover) -> [String: Any] {
    var page = frame
    page["script"] = nil
    page["heading"] = format.text(.phoneTitle)
    page["text"] = format.text(.phoneText, at: handover.expiresAt)
    page["picture"] = HostedPaths.code(handover.code)
    (page["codePicture"], page["pageURL"]) = (format.text(.codePicture), path)
    return page
  }
}

/// A page about no checkout, in the language that the browser prefers.
enum MissingPage {
  static func values(_ heading: HostedText, _ text: HostedText, languages: String?) -> [String: Any] {
    let format = ShopperFormat(preferred(languages))
    return [
      "lang": format.tag, "dir": format.locale.language.direction, "merchant": "", "page": "", "state": "missing",
      "title": format.text(heading), "heading": format.text(heading), "text": format.text(text), "server": "",
      "basket": "",
    ]
  }

  /// The first language of `Accept-Language` (RFC 9110, section 12.5.4) that the page has, by its order alone: browsers
  /// list the best first.
  private static func preferred(_ field: String?) -> String {
    let tags = (field ?? "").prefix(200).split(separator: ",").map { item -> String in
      String(item.drop { $0 == " " }.prefix { $0 != ";" && $0 != " " })
    }
    return tags.first(where: isKnown) ?? ShopperLanguage.english.rawValue
  }

  private static func isKnown(_ tag: String) -> Bool {
    let language = tag.lowercased().split(separator: "-").first.map(String.init) ?? ""
    return ShopperLanguage(rawValue: language) != nil
  }
}
