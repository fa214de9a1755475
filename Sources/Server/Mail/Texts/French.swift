import TenderSheet

extension ShopperLanguage {
  static let frenchMail: [MailText: String] = [
    .identityCertificate: "Le certificat d’identité du commerçant",
    .processingCertificate: "Le certificat de traitement des paiements",
    .siteCertificate: "Le certificat TLS",
    .domainVerification: "La vérification par Apple",
    .expirySubject: "{thing} de {name} expire dans {days}",
    .expiryBody: "{thing} de {name} est valable jusqu’au {date} : il reste {days}.",
    .lessThanOneDay: "moins d’un jour",
    .oneDay: "1 jour",
    .manyDays: "{days} jours",
    .identityEffect: "Ensuite, aucune page du commerçant ne pourra ouvrir la feuille de paiement.",
    .processingEffect: "Ensuite, les paiements échoueront dans la feuille de paiement.",
    .siteEffect: "Ensuite, le site sera inaccessible, et Apple Pay avec lui.",
    .verificationEffect: "Ensuite, Apple Pay ne sera plus proposé sur ce domaine.",
    .certificateRemedy:
      "Créez-en un nouveau à temps : tender certificate request, déposez la demande dans le compte développeur, tender certificate import.",
    .siteRemedy: "Renouvelez-le auprès du même émetteur, au plus tard 30 jours avant la fin.",
    .verificationRemedy:
      "Apple vérifie de nouveau le domaine lorsque son certificat TLS est renouvelé et que le fichier d’association est servi.",
    .alarmsSubject: "Paiements qui demandent votre attention : {count}",
    .alarmsBody: "Quelqu’un doit examiner ces paiements :",
    .invitationSubject: "Invitation à {name}",
    .invitationBody: "{person} vous invite à rejoindre {name}.",
    .invitationAction: "Accepter l’invitation",
    .resetSubject: "Choisir un nouveau mot de passe",
    .resetBody: "Un nouveau mot de passe a été demandé pour votre compte chez {name}.",
    .resetAction: "Choisir un nouveau mot de passe",
    .resetIgnore: "Si ce n’était pas vous, ne faites rien : votre mot de passe reste inchangé.",
    .linkUntil: "Le lien est valable jusqu’au {date}.",
    .orderSubject: "Votre commande {reference}",
    .orderBody: "Merci pour votre commande chez {name}.",
    .orderNumber: "Numéro de commande",
    .orderTotal: "Total",
    .orderAction: "Voir votre commande",
    .refundSubject: "Remboursement de votre commande {reference}",
    .refundBody: "{name} a remboursé {amount}. Quelques jours peuvent passer avant que votre banque ne l’affiche.",
    .testSubject: "Message de test",
    .testBody: "Ce message montre que {name} peut envoyer des e-mails.",
  ]
}
