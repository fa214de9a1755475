import TenderSheet

extension ShopperLanguage {
  static let danishMail: [MailText: String] = [
    .identityCertificate: "Forhandlerens identitetscertifikat",
    .processingCertificate: "Certifikatet til betalingsbehandling",
    .siteCertificate: "TLS-certifikatet",
    .domainVerification: "Apples verificering",
    .expirySubject: "{thing} for {name} udløber om {days}",
    .expiryBody: "{thing} for {name} gælder til {date}: {days} tilbage.",
    .lessThanOneDay: "mindre end en dag",
    .oneDay: "1 dag",
    .manyDays: "{days} dage",
    .identityEffect: "Derefter kan ingen af forhandlerens sider åbne betalingsarket.",
    .processingEffect: "Derefter mislykkes betalinger i betalingsarket.",
    .siteEffect: "Derefter er webstedet nede, og Apple Pay med det.",
    .verificationEffect: "Derefter tilbydes Apple Pay ikke på dette domæne.",
    .certificateRemedy:
      "Lav et nyt i god tid: tender certificate request, upload anmodningen på udviklerkontoen, tender certificate import.",
    .siteRemedy: "Forny det hos samme udsteder senest 30 dage før udløb.",
    .verificationRemedy:
      "Apple verificerer domænet igen, når TLS-certifikatet er fornyet, og tilknytningsfilen leveres.",
    .alarmsSubject: "Betalinger, der kræver opmærksomhed: {count}",
    .alarmsBody: "Nogen skal se på disse betalinger:",
    .invitationSubject: "Invitation til {name}",
    .invitationBody: "{person} inviterer dig til {name}.",
    .invitationAction: "Accepter invitationen",
    .resetSubject: "Vælg en ny adgangskode",
    .resetBody: "Der er bedt om en ny adgangskode til din konto hos {name}.",
    .resetAction: "Vælg en ny adgangskode",
    .resetIgnore: "Hvis det ikke var dig, skal du ikke gøre noget: din adgangskode ændres ikke.",
    .linkUntil: "Linket virker indtil {date}.",
    .orderSubject: "Din ordre {reference}",
    .orderBody: "Tak for din ordre hos {name}.",
    .orderNumber: "Ordrenummer",
    .orderTotal: "I alt",
    .orderAction: "Se din ordre",
    .refundSubject: "Refundering af din ordre {reference}",
    .refundBody: "{name} har refunderet {amount}. Det kan tage nogle dage, før din bank viser det.",
    .testSubject: "Testbesked",
    .testBody: "Denne besked viser, at {name} kan sende e-mail.",
  ]
}
