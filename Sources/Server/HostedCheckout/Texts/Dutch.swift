import TenderSheet

extension ShopperLanguage {
  static let hostedDutch: [HostedText: String] = [
    .title: "Betaling aan {merchant}",
    .order: "Uw bestelling",
    .total: "Totaal",
    .shipping: "Verzending",
    .discount: "Korting",
    .reference: "Referentie",
    .recipient: "Voor",
    .payHeading: "{amount} betalen",
    .cancel: "Annuleren en terug naar {merchant}",
    .goBack: "Terug naar {merchant}",
    .declinedBefore: "De laatste kaart is geweigerd. Er is niets afgeschreven. U kunt met een andere kaart betalen.",
    .simulated: "Dit is een simulatie. Er gaat geen geld om.",
    .test: "Dit is een test. Er gaat geen geld om.",
    .paidTitle: "Betaald",
    .paidText: "Dank u wel. {merchant} heeft uw betaling van {amount} ontvangen.",
    .authorizedText: "Dank u wel. {amount} is op uw kaart gereserveerd voor {merchant}.",
    .processingTitle: "Uw betaling wordt bevestigd",
    .processingText:
      "De bank heeft nog niet geantwoord. Betaal niet opnieuw. Deze pagina toont de uitkomst zodra die"
      + " bekend is.",
    .refusedTitle: "Niet betaald",
    .refusedText: "De kaart is geweigerd en er zijn geen pogingen meer over. Er is niets afgeschreven.",
    .cancelledTitle: "Geannuleerd",
    .cancelledText: "U hebt deze betaling geannuleerd. Er is niets afgeschreven.",
    .linkCancelledText: "{merchant} heeft dit betaalverzoek ingetrokken. Er is niets afgeschreven.",
    .expiredTitle: "De tijd is om",
    .expiredText:
      "De tijd om te betalen is voorbij. Er is niets afgeschreven. Begin opnieuw in de winkel om te"
      + " betalen.",
    .unknownTitle: "Deze pagina bestaat niet",
    .unknownText: "Controleer het adres, of ga terug naar de winkel en begin opnieuw.",
    .reasonTitle: "Apple Pay kan hier niet worden gebruikt",
    .noApplePay: "Deze browser heeft geen Apple Pay. Gebruik Safari, of ga verder op een iPhone.",
    .noDevice: "Dit apparaat kan niet met Apple Pay betalen. Ga verder op een iPhone.",
    .tooOld: "De Apple Pay van deze browser is te oud. Werk het apparaat bij, of ga verder op een ander.",
    .unavailable: "Apple Pay is op deze pagina nu niet beschikbaar. Probeer het later opnieuw.",
    .notInRegion: "Apple Pay wordt op deze pagina in uw land niet aangeboden.",
    .noScript: "Apple Pay heeft JavaScript nodig. Zet het aan en laad deze pagina opnieuw, of ga verder op een iPhone.",
    .noCard: "Er staat nog geen kaart in Apple Pay. Druk op de knop om er een toe te voegen.",
    .phoneTitle: "Ga verder op uw telefoon",
    .phoneText: "Scan deze code met de camera van uw iPhone. De code werkt één keer, tot {time}.",
    .phoneShow: "Toon een code voor mijn telefoon",
    .codeSpent: "Deze code is gebruikt of verlopen. Toon een nieuwe op het andere apparaat.",
    .codePicture: "Code die deze pagina op een telefoon opent",
    .sheetClosed: "U hebt het betaalvenster gesloten. Er is niets afgeschreven.",
    .connectionLost: "De verbinding is verbroken. Controleer die en probeer het opnieuw.",
    .openUntil: "U kunt betalen tot {date} om {time}.",
  ]
}
