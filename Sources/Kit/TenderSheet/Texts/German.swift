extension ShopperLanguage {
  static let germanTexts: [ShopperText: String] = [
    .addressNotServed: "Diese Adresse bedienen wir nicht.",
    .nothingServedThere: "Nichts aus dieser Bestellung kann an diese Adresse geliefert werden.",
    .countryNotServed: "In dieses Land liefern wir nicht.",
    .postalCodeNotServed: "An diese Postleitzahl liefern wir nicht.",
    .postalCodeWrong: "Diese Postleitzahl gibt es in dem Land nicht.",
    .unavailableItem: "{item} (dort nicht erhältlich)",
    .couponUnknown: "Diesen Code kennen wir nicht.",
    .couponExpired: "Dieser Code ist abgelaufen.",
    .addressTotal: "Mit dieser Adresse beträgt die Summe {amount}. Wählen Sie sie noch einmal, um die Posten zu sehen.",
    .chooseAddressAgain: "Wählen Sie diese Adresse noch einmal, um den Preis zu sehen.",
    .subtotal: "Zwischensumme",
    .held: "Auf Ihrer Karte vorgemerkt",
    .amountPending: "Betrag noch offen",
    .card: "Karte",
    .transaction: "Apple Pay-Transaktion",
    .enterCountry: "Wählen Sie ein Land.",
    .enterStreet: "Geben Sie Straße und Hausnummer ein.",
    .enterTown: "Geben Sie einen Ort ein.",
    .enterState: "Geben Sie ein Bundesland oder eine Provinz ein.",
    .enterPostalCode: "Geben Sie eine Postleitzahl ein.",
    .enterName: "Geben Sie einen Namen ein.",
    .enterPhoneticName: "Geben Sie den Namen in Lautschrift ein.",
    .enterPhone: "Geben Sie eine Telefonnummer ein.",
    .enterEmail: "Geben Sie eine E-Mail-Adresse ein.",
    .enterBillingAddress: "Geben Sie eine Rechnungsadresse ein.",
    .declined: "Die Karte wurde abgelehnt. Sie können mit einer anderen Karte bezahlen.",
    .declinedFunds:
      "Die Karte wurde abgelehnt: Das Konto deckt den Betrag nicht. Sie können mit einer anderen Karte bezahlen.",
    .declinedExpired: "Die Karte wurde abgelehnt: Sie ist abgelaufen. Sie können mit einer anderen Karte bezahlen.",
    .declinedLimit:
      "Die Karte wurde abgelehnt: Der Betrag liegt über ihrem Limit. Sie können mit einer anderen Karte bezahlen.",
    .declinedAuthentication:
      "Die Karte wurde abgelehnt: Die Bank verlangt eine weitere Bestätigung. Sie können mit einer anderen"
      + " Karte bezahlen.",
    .declinedUnreachable:
      "Die Karte wurde abgelehnt: Die Bank ist nicht erreichbar. Sie können mit einer anderen Karte bezahlen.",
    .notConfirmed:
      "Die Bank hat nicht geantwortet, und es wird nichts abgebucht. In einem Moment können Sie mit einer"
      + " anderen Karte bezahlen.",
    .notReached: "Die Bank war nicht erreichbar; es wurde nichts abgebucht. Versuchen Sie es noch einmal.",
    .paymentUnderWay:
      "Eine Zahlung für diese Bestellung läuft bereits. Bitte warten Sie, und bezahlen Sie nicht noch einmal.",
    .orderChanged: "Die Bestellung hat sich geändert. Öffnen Sie das Bezahlfenster noch einmal.",
    .orderClosed: "Diese Bestellung kann nicht mehr bezahlt werden. Bitte beginnen Sie von vorn.",
    .tryAgain: "Es wurde nichts abgebucht. Bitte versuchen Sie es gleich noch einmal.",
  ]
}
