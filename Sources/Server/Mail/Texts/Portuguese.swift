import TenderSheet

extension ShopperLanguage {
  static let portugueseMail: [MailText: String] = [
    .identityCertificate: "O certificado de identidade do comerciante",
    .processingCertificate: "O certificado de processamento de pagamentos",
    .siteCertificate: "O certificado TLS",
    .domainVerification: "A verificação da Apple",
    .expirySubject: "{thing} de {name} expira em {days}",
    .expiryBody: "{thing} de {name} é válido até {date}: faltam {days}.",
    .lessThanOneDay: "menos de um dia",
    .oneDay: "1 dia",
    .manyDays: "{days} dias",
    .identityEffect: "Depois disso, nenhuma página do comerciante consegue abrir a folha de pagamento.",
    .processingEffect: "Depois disso, os pagamentos falham na folha de pagamento.",
    .siteEffect: "Depois disso, o site fica indisponível, e o Apple Pay também.",
    .verificationEffect: "Depois disso, o Apple Pay não é oferecido neste domínio.",
    .certificateRemedy:
      "Crie um novo a tempo: tender certificate request, envie o pedido na conta de programador, tender certificate import.",
    .siteRemedy: "Renove-o com o mesmo emissor, no máximo 30 dias antes do fim.",
    .verificationRemedy:
      "A Apple verifica o domínio novamente quando o certificado TLS é renovado e o ficheiro de associação é servido.",
    .alarmsSubject: "Pagamentos que precisam de atenção: {count}",
    .alarmsBody: "Alguém tem de ver estes pagamentos:",
    .invitationSubject: "Convite para {name}",
    .invitationBody: "{person} convida-o para {name}.",
    .invitationAction: "Aceitar o convite",
    .resetSubject: "Escolha uma nova palavra-passe",
    .resetBody: "Foi pedida uma nova palavra-passe para a sua conta em {name}.",
    .resetAction: "Escolher uma nova palavra-passe",
    .resetIgnore: "Se não foi você, não faça nada: a sua palavra-passe mantém-se.",
    .linkUntil: "A ligação funciona até {date}.",
    .orderSubject: "A sua encomenda {reference}",
    .orderBody: "Obrigado pela sua encomenda em {name}.",
    .orderNumber: "Número da encomenda",
    .orderTotal: "Total",
    .orderAction: "Ver a encomenda",
    .refundSubject: "Reembolso da sua encomenda {reference}",
    .refundBody: "{name} reembolsou {amount}. Pode demorar alguns dias até o seu banco o mostrar.",
    .testSubject: "Mensagem de teste",
    .testBody: "Esta mensagem mostra que {name} consegue enviar e-mail.",
  ]
}
