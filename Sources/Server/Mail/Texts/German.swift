import TenderSheet

extension ShopperLanguage {
  static let germanMail: [MailText: String] = [
    .identityCertificate: "Das Händler-Identitätszertifikat",
    .processingCertificate: "Das Zertifikat für die Zahlungsverarbeitung",
    .siteCertificate: "Das TLS-Zertifikat",
    .domainVerification: "Die Bestätigung durch Apple",
    .expirySubject: "{thing} von {name} läuft in {days} ab",
    .expiryBody: "{thing} von {name} läuft am {date} ab, in {days}.",
    .lessThanOneDay: "weniger als einem Tag",
    .oneDay: "1 Tag",
    .manyDays: "{days} Tagen",
    .identityEffect: "Danach kann keine Seite des Händlers das Zahlungsblatt öffnen.",
    .processingEffect: "Danach schlagen Zahlungen im Zahlungsblatt fehl.",
    .siteEffect: "Danach ist die Website nicht erreichbar, und Apple Pay mit ihr.",
    .verificationEffect: "Danach wird Apple Pay auf dieser Domain nicht angeboten.",
    .certificateRemedy:
      "Erstellen Sie rechtzeitig ein neues: tender certificate request, die Anforderung im Entwicklerkonto hochladen, tender certificate import.",
    .siteRemedy: "Erneuern Sie es beim selben Aussteller, spätestens 30 Tage vor dem Ende.",
    .verificationRemedy:
      "Apple bestätigt die Domain erneut, wenn ihr TLS-Zertifikat erneuert ist und die Zuordnungsdatei ausgeliefert wird.",
    .alarmsSubject: "Zahlungen, die Aufmerksamkeit brauchen: {count}",
    .alarmsBody: "Jemand muss sich diese Zahlungen ansehen:",
    .invitationSubject: "Einladung zu {name}",
    .invitationBody: "{person} lädt Sie zu {name} ein.",
    .invitationAction: "Einladung annehmen",
    .resetSubject: "Neues Passwort wählen",
    .resetBody: "Für Ihr Konto bei {name} wurde ein neues Passwort angefordert.",
    .resetAction: "Neues Passwort wählen",
    .resetIgnore: "Wenn Sie das nicht waren, tun Sie nichts: Ihr Passwort bleibt, wie es ist.",
    .linkUntil: "Der Link gilt bis {date}.",
    .orderSubject: "Ihre Bestellung {reference}",
    .orderBody: "Vielen Dank für Ihre Bestellung bei {name}.",
    .orderNumber: "Bestellnummer",
    .orderTotal: "Summe",
    .orderAction: "Bestellung ansehen",
    .refundSubject: "Erstattung zu Ihrer Bestellung {reference}",
    .refundBody: "{name} hat {amount} erstattet. Es kann einige Tage dauern, bis Ihre Bank den Betrag zeigt.",
    .testSubject: "Testnachricht",
    .testBody: "Diese Nachricht zeigt, dass {name} E-Mails senden kann.",
  ]
}
