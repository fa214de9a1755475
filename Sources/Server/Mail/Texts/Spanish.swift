import TenderSheet

extension ShopperLanguage {
  static let spanishMail: [MailText: String] = [
    .identityCertificate: "El certificado de identidad del comercio",
    .processingCertificate: "El certificado de procesamiento de pagos",
    .siteCertificate: "El certificado TLS",
    .domainVerification: "La verificación de Apple",
    .expirySubject: "{thing} de {name} caduca en {days}",
    .expiryBody: "{thing} de {name} es válido hasta el {date}: quedan {days}.",
    .lessThanOneDay: "menos de un día",
    .oneDay: "1 día",
    .manyDays: "{days} días",
    .identityEffect: "Después, ninguna página del comercio podrá abrir la hoja de pago.",
    .processingEffect: "Después, los pagos fallarán en la hoja de pago.",
    .siteEffect: "Después, el sitio no estará disponible, y Apple Pay tampoco.",
    .verificationEffect: "Después, Apple Pay no se ofrecerá en este dominio.",
    .certificateRemedy:
      "Cree uno nuevo a tiempo: tender certificate request, suba la solicitud en la cuenta de desarrollador, tender certificate import.",
    .siteRemedy: "Renuévelo con el mismo emisor, como muy tarde 30 días antes del final.",
    .verificationRemedy:
      "Apple vuelve a verificar el dominio cuando se renueva su certificado TLS y se sirve el archivo de asociación.",
    .alarmsSubject: "Pagos que requieren atención: {count}",
    .alarmsBody: "Alguien debe revisar estos pagos:",
    .invitationSubject: "Invitación a {name}",
    .invitationBody: "{person} le invita a {name}.",
    .invitationAction: "Aceptar la invitación",
    .resetSubject: "Elija una nueva contraseña",
    .resetBody: "Se ha pedido una nueva contraseña para su cuenta en {name}.",
    .resetAction: "Elegir una nueva contraseña",
    .resetIgnore: "Si no ha sido usted, no haga nada: su contraseña sigue igual.",
    .linkUntil: "El enlace funciona hasta el {date}.",
    .orderSubject: "Su pedido {reference}",
    .orderBody: "Gracias por su pedido en {name}.",
    .orderNumber: "Número de pedido",
    .orderTotal: "Total",
    .orderAction: "Ver su pedido",
    .refundSubject: "Reembolso de su pedido {reference}",
    .refundBody: "{name} ha reembolsado {amount}. Su banco puede tardar unos días en mostrarlo.",
    .testSubject: "Mensaje de prueba",
    .testBody: "Este mensaje muestra que {name} puede enviar correo.",
  ]
}
