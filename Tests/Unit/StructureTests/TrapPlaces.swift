extension Traps {
  /// What may stay.
  static let places = money + bytes + texts + ownNumbers

  private static let money: [Allowed] = [
    .init(
      "Sources/Payments/Ledger/Posting.swift", nil, .arithmetic,
      "no operation moves more than PaymentRecord.validated found left, and the table's checks hold the sums"),
    .init(
      "Sources/Payments/Ledger/ProviderMovement.swift", "balances.authorized - balances.refunded", .arithmetic,
      "the table's checks hold what is refunded and charged back within what is authorized"),
    .init(
      "Sources/Sandbox/AcquirerSandbox/", nil, .arithmetic,
      "a sandbox adds up what its readers have limited to twelve digits"),
    .init(
      "Sources/Sandbox/ProviderEmulators/", nil, .arithmetic,
      "a sandbox adds up what its readers have limited to twelve digits"),
    .init(
      "Sources/CommandLine/Demo/PlatformPayment.swift", nil, .arithmetic,
      "parts of an amount that the command made up"),
    .init("Sources/Checkout/Orders/QuoteRules.swift", "try discount + fees(", .arithmetic, "joins lists of lines"),
    .init(
      "Sources/Payments/Connectors/Adyen/AdyenEvents.swift", "value = try amount?.member", .rawAmount,
      "the signature is over the number as it came; the event limits it"),
    .init(
      "Sources/Payments/Connectors/Sandbox/SandboxMessages.swift", "== amount.minorUnits", .rawAmount,
      "it is only compared"),
    .init(
      "Sources/Base/TenderPayments/Timestamp.swift", "Int64(Date()", .conversion,
      "the clock of the machine; 64 bits hold 292,000 years"),
    .init(
      "Sources/Server/HostedCheckout/HostedVariant.swift", "(least * 10)", .conversion, "a contrast is from 1 to 21"),
  ]

  private static let (wider, checked) = (
    "a byte becomes a wider number", "of a text, nil where it is no number that fits"
  )

  private static let bytes: [Allowed] = [
    .init("Sources/Base/Storage/Migration.swift", "UInt32($1)", .conversion, wider),
    .init("Sources/Base/Storage/Postgres/PostgresResult.swift", "UInt64($1)", .conversion, wider),
    .init("Sources/Base/StrictJSON/JSONStrings.swift", "UInt64(bytes[place])", .conversion, wider),
    .init("Sources/Base/StrictJSON/JSONStrings.swift", "UInt32(byte - 0x", .conversion, wider),
    .init("Sources/Base/TenderPayments/Encoding.swift", "UInt32(", .conversion, wider),
    .init("Sources/Base/TenderPayments/Encoding.swift", "UInt64(first)", .conversion, wider),
    .init("Sources/Payments/Ledger/AuditChain.swift", "UInt64($1)", .conversion, wider),
    .init("Sources/Payments/Webhooks/WebhookDispatcher.swift", "UInt16($1)", .conversion, wider),
    .init("Sources/Server/Administration/Accounts/OneTimeCode.swift", "UInt32($1)", .conversion, wider),
    .init("Sources/Server/Mail/Delivery/MailDispatcher.swift", "UInt16($1)", .conversion, wider),
    .init("Sources/Tokens/ApplePayToken/DER/ObjectIdentifier.swift", "UInt64(byte & 0x7F)", .conversion, wider),
  ]

  private static let texts: [Allowed] = [
    .init("Sources/Base/Storage/Postgres/PostgresConnection.swift", "radix: 16", .conversion, checked),
    .init("Sources/Checkout/MerchantIdentity/Domain.swift", "UInt16(parts[1])", .conversion, checked),
    .init("Sources/Sandbox/AppleSandbox/Gateway/SessionRequest.swift", "UInt16(parts[1])", .conversion, checked),
    .init("Sources/Sandbox/AppleSandbox/HTTP/Middlewares.swift", "UInt8($0)", .conversion, checked),
    .init("Sources/Sandbox/TokenIssuer/PKI/GatewayCertificate.swift", "UInt8($0)", .conversion, checked),
    .init("Sources/Server/Settings/HostName.swift", "UInt16(parts[1])", .conversion, checked),
  ]

  private static let ownNumbers: [Allowed] = [
    .init("Sources/Base/Storage/Columns.swift", "Int16(place)", .conversion, "a query of ours has few columns"),
    .init("Sources/Base/Storage/Postgres/PostgresConnection.swift", "Int16(POLLIN)", .conversion, "a constant"),
    .init("Sources/CommandLine/CommandSupport/Terminal.swift", "Int16(POLLOUT)", .conversion, "a constant"),
    .init("Sources/Payments/Webhooks/SystemResolver.swift", "Int32(SOCK_STREAM.rawValue)", .conversion, "a constant"),
    .init("Sources/Server/TenderServer/HTTP/CompressedBody.swift", "MemoryLayout<z_stream>", .conversion, "a constant"),
    .init(
      "Sources/Checkout/MerchantIdentity/Store/MasterKeys.swift", "UInt32(bytes.count)", .conversion,
      "the length of a row's name"),
    .init(
      "Sources/Tokens/KeyAgent/MessageFraming.swift", "UInt32(message.count)", .conversion,
      "the length of a message of ours"),
    .init("Sources/Sandbox/TokenIssuer/", nil, .conversion, "the issuer encodes what it made itself"),
  ]
}
