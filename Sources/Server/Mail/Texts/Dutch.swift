import TenderSheet

extension ShopperLanguage {
  static let dutchMail: [MailText: String] = [
    .identityCertificate: "Het identiteitscertificaat van de winkelier",
    .processingCertificate: "Het certificaat voor betalingsverwerking",
    .siteCertificate: "Het TLS-certificaat",
    .domainVerification: "De verificatie door Apple",
    .expirySubject: "{thing} van {name} verloopt over {days}",
    .expiryBody: "{thing} van {name} is geldig tot {date}: nog {days}.",
    .lessThanOneDay: "minder dan een dag",
    .oneDay: "1 dag",
    .manyDays: "{days} dagen",
    .identityEffect: "Daarna kan geen pagina van de winkelier het betaalvenster openen.",
    .processingEffect: "Daarna mislukken betalingen in het betaalvenster.",
    .siteEffect: "Daarna is de site onbereikbaar, en Apple Pay ook.",
    .verificationEffect: "Daarna wordt Apple Pay op dit domein niet aangeboden.",
    .certificateRemedy:
      "Maak op tijd een nieuw certificaat: tender certificate request, upload de aanvraag in het ontwikkelaarsaccount, tender certificate import.",
    .siteRemedy: "Vernieuw het bij dezelfde uitgever, uiterlijk 30 dagen voor het einde.",
    .verificationRemedy:
      "Apple verifieert het domein opnieuw als het TLS-certificaat is vernieuwd en het associatiebestand wordt aangeboden.",
    .alarmsSubject: "Betalingen die aandacht vragen: {count}",
    .alarmsBody: "Iemand moet naar deze betalingen kijken:",
    .invitationSubject: "Uitnodiging voor {name}",
    .invitationBody: "{person} nodigt je uit voor {name}.",
    .invitationAction: "Uitnodiging aannemen",
    .resetSubject: "Kies een nieuw wachtwoord",
    .resetBody: "Er is een nieuw wachtwoord gevraagd voor je account bij {name}.",
    .resetAction: "Kies een nieuw wachtwoord",
    .resetIgnore: "Was jij dit niet, doe dan niets: je wachtwoord blijft zoals het is.",
    .linkUntil: "De link werkt tot {date}.",
    .orderSubject: "Je bestelling {reference}",
    .orderBody: "Bedankt voor je bestelling bij {name}.",
    .orderNumber: "Bestelnummer",
    .orderTotal: "Totaal",
    .orderAction: "Bekijk je bestelling",
    .refundSubject: "Terugbetaling van je bestelling {reference}",
    .refundBody: "{name} heeft {amount} terugbetaald. Het kan enkele dagen duren voordat je bank het toont.",
    .testSubject: "Testbericht",
    .testBody: "Dit bericht laat zien dat {name} e-mail kan versturen.",
  ]
}
