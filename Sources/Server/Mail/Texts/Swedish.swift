import TenderSheet

extension ShopperLanguage {
  static let swedishMail: [MailText: String] = [
    .identityCertificate: "Handlarens identitetscertifikat",
    .processingCertificate: "Certifikatet för betalningshantering",
    .siteCertificate: "TLS-certifikatet",
    .domainVerification: "Apples verifiering",
    .expirySubject: "{thing} för {name} går ut om {days}",
    .expiryBody: "{thing} för {name} gäller till {date}: {days} kvar.",
    .lessThanOneDay: "mindre än en dag",
    .oneDay: "1 dag",
    .manyDays: "{days} dagar",
    .identityEffect: "Därefter kan ingen sida hos handlaren öppna betalningsvyn.",
    .processingEffect: "Därefter misslyckas betalningar i betalningsvyn.",
    .siteEffect: "Därefter ligger webbplatsen nere, och Apple Pay med den.",
    .verificationEffect: "Därefter erbjuds inte Apple Pay på den här domänen.",
    .certificateRemedy:
      "Skapa ett nytt i god tid: tender certificate request, ladda upp begäran i utvecklarkontot, tender certificate import.",
    .siteRemedy: "Förnya det hos samma utfärdare, senast 30 dagar före slutet.",
    .verificationRemedy:
      "Apple verifierar domänen igen när TLS-certifikatet är förnyat och associationsfilen levereras.",
    .alarmsSubject: "Betalningar att se över: {count}",
    .alarmsBody: "Någon måste titta på de här betalningarna:",
    .invitationSubject: "Inbjudan till {name}",
    .invitationBody: "{person} bjuder in dig till {name}.",
    .invitationAction: "Acceptera inbjudan",
    .resetSubject: "Välj ett nytt lösenord",
    .resetBody: "Ett nytt lösenord har begärts för ditt konto hos {name}.",
    .resetAction: "Välj ett nytt lösenord",
    .resetIgnore: "Om det inte var du behöver du inte göra något: ditt lösenord ändras inte.",
    .linkUntil: "Länken fungerar till {date}.",
    .orderSubject: "Din beställning {reference}",
    .orderBody: "Tack för din beställning hos {name}.",
    .orderNumber: "Beställningsnummer",
    .orderTotal: "Summa",
    .orderAction: "Visa beställningen",
    .refundSubject: "Återbetalning för din beställning {reference}",
    .refundBody: "{name} har återbetalat {amount}. Det kan ta några dagar innan din bank visar det.",
    .testSubject: "Testmeddelande",
    .testBody: "Det här meddelandet visar att {name} kan skicka e-post.",
  ]
}
