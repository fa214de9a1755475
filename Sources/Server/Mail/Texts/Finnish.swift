import TenderSheet

extension ShopperLanguage {
  static let finnishMail: [MailText: String] = [
    .identityCertificate: "Kauppiaan tunnistusvarmenne",
    .processingCertificate: "Maksujen käsittelyvarmenne",
    .siteCertificate: "TLS-varmenne",
    .domainVerification: "Applen vahvistus",
    .expirySubject: "{thing} ({name}) vanhenee, aikaa jäljellä {days}",
    .expiryBody: "{thing} ({name}) on voimassa {date} asti: jäljellä {days}.",
    .lessThanOneDay: "alle päivä",
    .oneDay: "1 päivä",
    .manyDays: "{days} päivää",
    .identityEffect: "Sen jälkeen mikään kauppiaan sivu ei voi avata maksunäkymää.",
    .processingEffect: "Sen jälkeen maksut epäonnistuvat maksunäkymässä.",
    .siteEffect: "Sen jälkeen sivusto ei toimi, eikä Apple Pay sen mukana.",
    .verificationEffect: "Sen jälkeen Apple Payta ei tarjota tässä verkkotunnuksessa.",
    .certificateRemedy:
      "Tee uusi ajoissa: tender certificate request, lataa pyyntö kehittäjätilille, tender certificate import.",
    .siteRemedy: "Uusi se samalla myöntäjällä viimeistään 30 päivää ennen loppua.",
    .verificationRemedy:
      "Apple vahvistaa verkkotunnuksen uudelleen, kun sen TLS-varmenne on uusittu ja liitostiedosto on saatavilla.",
    .alarmsSubject: "Huomiota vaativat maksut: {count}",
    .alarmsBody: "Jonkun on tarkistettava nämä maksut:",
    .invitationSubject: "Kutsu: {name}",
    .invitationBody: "{person} kutsuu sinut palveluun {name}.",
    .invitationAction: "Hyväksy kutsu",
    .resetSubject: "Valitse uusi salasana",
    .resetBody: "Tilillesi palvelussa {name} on pyydetty uutta salasanaa.",
    .resetAction: "Valitse uusi salasana",
    .resetIgnore: "Jos et pyytänyt tätä, älä tee mitään: salasanasi ei muutu.",
    .linkUntil: "Linkki toimii {date} asti.",
    .orderSubject: "Tilauksesi {reference}",
    .orderBody: "Kiitos tilauksestasi: {name}.",
    .orderNumber: "Tilausnumero",
    .orderTotal: "Yhteensä",
    .orderAction: "Näytä tilaus",
    .refundSubject: "Hyvitys tilauksestasi {reference}",
    .refundBody: "{name} on hyvittänyt {amount}. Voi kestää muutaman päivän, ennen kuin pankkisi näyttää sen.",
    .testSubject: "Testiviesti",
    .testBody: "Tämä viesti osoittaa, että {name} voi lähettää sähköpostia.",
  ]
}
