import TenderSheet

extension ShopperLanguage {
  static let italianMail: [MailText: String] = [
    .identityCertificate: "Il certificato di identità dell’esercente",
    .processingCertificate: "Il certificato di elaborazione dei pagamenti",
    .siteCertificate: "Il certificato TLS",
    .domainVerification: "La verifica di Apple",
    .expirySubject: "{thing} di {name} scade tra {days}",
    .expiryBody: "{thing} di {name} è valido fino al {date}: restano {days}.",
    .lessThanOneDay: "meno di un giorno",
    .oneDay: "1 giorno",
    .manyDays: "{days} giorni",
    .identityEffect: "Dopo, nessuna pagina dell’esercente potrà aprire la schermata di pagamento.",
    .processingEffect: "Dopo, i pagamenti non riusciranno nella schermata di pagamento.",
    .siteEffect: "Dopo, il sito non sarà raggiungibile, e con esso Apple Pay.",
    .verificationEffect: "Dopo, Apple Pay non sarà offerto su questo dominio.",
    .certificateRemedy:
      "Ne crei uno nuovo in tempo: tender certificate request, carichi la richiesta nell’account sviluppatore, tender certificate import.",
    .siteRemedy: "Lo rinnovi con lo stesso emittente, al più tardi 30 giorni prima della fine.",
    .verificationRemedy:
      "Apple verifica di nuovo il dominio quando il certificato TLS è rinnovato e il file di associazione è disponibile.",
    .alarmsSubject: "Pagamenti che richiedono attenzione: {count}",
    .alarmsBody: "Qualcuno deve esaminare questi pagamenti:",
    .invitationSubject: "Invito a {name}",
    .invitationBody: "{person} la invita a {name}.",
    .invitationAction: "Accetta l’invito",
    .resetSubject: "Scelga una nuova password",
    .resetBody: "È stata richiesta una nuova password per il suo account presso {name}.",
    .resetAction: "Scegli una nuova password",
    .resetIgnore: "Se non è stato lei, non faccia nulla: la password resta invariata.",
    .linkUntil: "Il link è valido fino al {date}.",
    .orderSubject: "Il suo ordine {reference}",
    .orderBody: "Grazie per il suo ordine presso {name}.",
    .orderNumber: "Numero d’ordine",
    .orderTotal: "Totale",
    .orderAction: "Vedi l’ordine",
    .refundSubject: "Rimborso del suo ordine {reference}",
    .refundBody: "{name} ha rimborsato {amount}. Possono passare alcuni giorni prima che la banca lo mostri.",
    .testSubject: "Messaggio di prova",
    .testBody: "Questo messaggio mostra che {name} può inviare e-mail.",
  ]
}
