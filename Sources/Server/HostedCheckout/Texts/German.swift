import TenderSheet

extension ShopperLanguage {
  static let hostedGerman: [HostedText: String] = [
    .title: "Zahlung an {merchant}",
    .order: "Ihre Bestellung",
    .total: "Summe",
    .shipping: "Versand",
    .discount: "Rabatt",
    .reference: "Referenz",
    .recipient: "Für",
    .payHeading: "{amount} bezahlen",
    .cancel: "Abbrechen und zurück zu {merchant}",
    .goBack: "Zurück zu {merchant}",
    .declinedBefore:
      "Die letzte Karte wurde abgelehnt. Es wurde nichts abgebucht. Sie können mit einer anderen Karte"
      + " bezahlen.",
    .simulated: "Dies ist eine Simulation. Es fließt kein Geld.",
    .test: "Dies ist ein Test. Es fließt kein Geld.",
    .paidTitle: "Bezahlt",
    .paidText: "Vielen Dank. {merchant} hat Ihre Zahlung von {amount} erhalten.",
    .authorizedText: "Vielen Dank. {amount} sind auf Ihrer Karte für {merchant} vorgemerkt.",
    .processingTitle: "Ihre Zahlung wird bestätigt",
    .processingText:
      "Die Bank hat noch nicht geantwortet. Bitte bezahlen Sie nicht noch einmal. Diese Seite zeigt das"
      + " Ergebnis, sobald es bekannt ist.",
    .refusedTitle: "Nicht bezahlt",
    .refusedText: "Die Karte wurde abgelehnt, und es ist kein Versuch mehr übrig. Es wurde nichts abgebucht.",
    .cancelledTitle: "Abgebrochen",
    .cancelledText: "Sie haben diese Zahlung abgebrochen. Es wurde nichts abgebucht.",
    .linkCancelledText: "{merchant} hat diese Zahlungsaufforderung zurückgezogen. Es wurde nichts abgebucht.",
    .expiredTitle: "Die Zeit ist abgelaufen",
    .expiredText:
      "Die Zeit zum Bezahlen ist vorbei. Es wurde nichts abgebucht. Beginnen Sie im Shop von vorn, um zu"
      + " bezahlen.",
    .unknownTitle: "Diese Seite gibt es nicht",
    .unknownText: "Prüfen Sie die Adresse, oder gehen Sie zurück zum Shop und beginnen Sie von vorn.",
    .reasonTitle: "Apple Pay ist hier nicht möglich",
    .noApplePay: "Dieser Browser kennt kein Apple Pay. Verwenden Sie Safari, oder machen Sie auf einem iPhone weiter.",
    .noDevice: "Dieses Gerät kann nicht mit Apple Pay bezahlen. Machen Sie auf einem iPhone weiter.",
    .tooOld:
      "Das Apple Pay dieses Browsers ist zu alt. Aktualisieren Sie das Gerät, oder machen Sie auf einem"
      + " anderen weiter.",
    .unavailable:
      "Apple Pay ist auf dieser Seite im Moment nicht verfügbar. Bitte versuchen Sie es später noch einmal.",
    .notInRegion: "Apple Pay wird auf dieser Seite in Ihrem Land nicht angeboten.",
    .noScript:
      "Apple Pay braucht JavaScript. Schalten Sie es ein und laden Sie die Seite neu, oder machen Sie auf"
      + " einem iPhone weiter.",
    .noCard: "In Apple Pay ist noch keine Karte. Drücken Sie auf den Knopf, um eine hinzuzufügen.",
    .phoneTitle: "Auf dem Telefon weitermachen",
    .phoneText: "Scannen Sie diesen Code mit der Kamera Ihres iPhones. Er gilt einmal, bis {time} Uhr.",
    .phoneShow: "Code für mein Telefon zeigen",
    .codeSpent: "Dieser Code wurde schon verwendet oder ist abgelaufen. Zeigen Sie auf dem anderen Gerät einen neuen.",
    .codePicture: "Code, der diese Seite auf einem Telefon öffnet",
    .sheetClosed: "Sie haben das Bezahlfenster geschlossen. Es wurde nichts abgebucht.",
    .connectionLost: "Die Verbindung ist abgebrochen. Prüfen Sie sie und versuchen Sie es noch einmal.",
    .openUntil: "Sie können bis zum {date}, {time} Uhr bezahlen.",
  ]
}
