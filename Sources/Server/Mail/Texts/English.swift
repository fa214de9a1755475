import TenderSheet

extension ShopperLanguage {
  static let englishMail: [MailText: String] = [
    .identityCertificate: "The merchant identity certificate",
    .processingCertificate: "The payment processing certificate",
    .siteCertificate: "The TLS certificate",
    .domainVerification: "Apple's verification",
    .expirySubject: "{thing} of {name} expires in {days}",
    .expiryBody: "{thing} of {name} is valid until {date}: {days} left.",
    .lessThanOneDay: "less than a day",
    .oneDay: "1 day",
    .manyDays: "{days} days",
    .identityEffect: "After that no page of the merchant can open the payment sheet.",
    .processingEffect: "After that payments fail in the payment sheet.",
    .siteEffect: "After that the site is down, and Apple Pay with it.",
    .verificationEffect: "After that Apple Pay is not offered on this domain.",
    .certificateRemedy:
      "Make a new one in time: tender certificate request, upload the request in the developer account, tender certificate import.",
    .siteRemedy: "Renew it, with the same issuer, at least 30 days before the end.",
    .verificationRemedy:
      "Apple verifies the domain again when its TLS certificate is renewed and the association file is served.",
    .alarmsSubject: "Payments that need attention: {count}",
    .alarmsBody: "An operator must look at these payments:",
    .invitationSubject: "Invitation to {name}",
    .invitationBody: "{person} invites you to {name}.",
    .invitationAction: "Accept the invitation",
    .resetSubject: "Choose a new password",
    .resetBody: "Somebody asked for a new password for your account at {name}.",
    .resetAction: "Choose a new password",
    .resetIgnore: "If this was not you, do nothing: your password stays as it is.",
    .linkUntil: "The link works until {date}.",
    .orderSubject: "Your order {reference}",
    .orderBody: "Thank you for your order at {name}.",
    .orderNumber: "Order number",
    .orderTotal: "Total",
    .orderAction: "View your order",
    .refundSubject: "Refund for your order {reference}",
    .refundBody: "{name} has refunded {amount}. It can take some days until your bank shows it.",
    .testSubject: "Test message",
    .testBody: "This message shows that {name} can send mail.",
  ]
}
