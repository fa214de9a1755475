package import Mail
import TenderSheet

/// What a merchant wants of mail.
package struct MerchantMail: Sendable, Hashable {
  /// Whether shoppers get a message when an order is paid, and when money goes back.
  package var confirmsOrders = false
  package var announcesRefunds = false
  /// Who is warned of the ends of the merchant's certificates and domains, beside the operator.
  package var recipients: [MailAddress] = []
  package var replyTo: MailAddress?
  var logo: String?
  var color = MailBrand.usualColor

  func brand(_ name: String, _ locale: String) -> MailBrand {
    MailBrand(name: name, logoURL: logo, color: color, locale: locale)
  }
}

extension SettingsTable where Target == MerchantSettings {
  static let mail: [Setting<MerchantSettings>] = [
    Setting(
      "orderConfirmation", .flag, \.mail.confirmsOrders,
      "Whether the shopper gets a message when the order is paid."),
    Setting(
      "refundNotice", .flag, \.mail.announcesRefunds, "Whether the shopper gets a message when money goes back."),
    Setting(
      "mailRecipients", .list(of: .mailAddress, atMost: 20), \.mail.recipients,
      "Who of the merchant is warned before certificates and domains expire."),
    Setting("mailReplyTo", .mailAddress, \.mail.replyTo, "Where answers to the merchant's messages go."),
    Setting(
      "mailLogo", .text("a URL with https", as: "\"https://shop.example.com/logo.png\"", where: isLogo), \.mail.logo,
      "An image at the head of messages, 40 pixels high, in place of the name."),
    Setting(
      "mailColor", .text("a colour as # and six hexadecimal digits", as: "\"#0b6e4f\"", where: MailBrand.isColor),
      \.mail.color, "The colour of the head and of the button."),
  ]

  private static func isLogo(_ text: String) -> Bool {
    text.hasPrefix("https://") && text.utf8.count <= 500 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
