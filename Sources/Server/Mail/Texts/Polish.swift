import TenderSheet

extension ShopperLanguage {
  static let polishMail: [MailText: String] = [
    .identityCertificate: "Certyfikat tożsamości sprzedawcy",
    .processingCertificate: "Certyfikat przetwarzania płatności",
    .siteCertificate: "Certyfikat TLS",
    .domainVerification: "Weryfikacja Apple",
    .expirySubject: "{thing} ({name}) wygasa za {days}",
    .expiryBody: "{thing} ({name}) jest ważny do {date}; pozostało: {days}.",
    .lessThanOneDay: "mniej niż dzień",
    .oneDay: "1 dzień",
    .manyDays: "{days} dni",
    .identityEffect: "Potem żadna strona sprzedawcy nie otworzy arkusza płatności.",
    .processingEffect: "Potem płatności w arkuszu nie powiodą się.",
    .siteEffect: "Potem witryna nie będzie działać, a z nią Apple Pay.",
    .verificationEffect: "Potem Apple Pay nie będzie oferowane w tej domenie.",
    .certificateRemedy:
      "Przygotuj nowy na czas: tender certificate request, prześlij wniosek na koncie deweloperskim, tender certificate import.",
    .siteRemedy: "Odnów go u tego samego wystawcy najpóźniej 30 dni przed końcem.",
    .verificationRemedy:
      "Apple ponownie zweryfikuje domenę, gdy certyfikat TLS zostanie odnowiony, a plik powiązania będzie udostępniany.",
    .alarmsSubject: "Płatności wymagające uwagi: {count}",
    .alarmsBody: "Ktoś musi przyjrzeć się tym płatnościom:",
    .invitationSubject: "Zaproszenie do {name}",
    .invitationBody: "{person} zaprasza Cię do {name}.",
    .invitationAction: "Przyjmij zaproszenie",
    .resetSubject: "Wybierz nowe hasło",
    .resetBody: "Poproszono o nowe hasło do Twojego konta w {name}.",
    .resetAction: "Wybierz nowe hasło",
    .resetIgnore: "Jeśli to nie Ty, nie rób nic: hasło pozostanie bez zmian.",
    .linkUntil: "Link działa do {date}.",
    .orderSubject: "Twoje zamówienie {reference}",
    .orderBody: "Dziękujemy za zamówienie w {name}.",
    .orderNumber: "Numer zamówienia",
    .orderTotal: "Razem",
    .orderAction: "Zobacz zamówienie",
    .refundSubject: "Zwrot za zamówienie {reference}",
    .refundBody: "{name} zwraca {amount}. Zanim bank to pokaże, może minąć kilka dni.",
    .testSubject: "Wiadomość testowa",
    .testBody: "Ta wiadomość pokazuje, że {name} może wysyłać pocztę.",
  ]
}
