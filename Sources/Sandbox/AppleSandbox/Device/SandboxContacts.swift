/// The contacts in the simulated wallet, in the order in which the sheet lists them.
///
/// They are made up: telephone numbers are of ranges reserved for fiction, mail goes to example.com.
package enum SandboxContacts {
  package static let all: [SandboxContact] = [
    SandboxContact(
      id: "gb-london", label: "London, United Kingdom", phoneNumber: "+442079460123",
      emailAddress: "ada@example.com", givenName: "Ada", familyName: "Sandford",
      addressLines: ["12 Sandbox Street", "Flat 3"], locality: "London", postalCode: "EC1A 1BB",
      administrativeArea: "", country: "United Kingdom", countryCode: "GB"),
    SandboxContact(
      id: "us-arlington", label: "Arlington, United States", phoneNumber: "+12025550123",
      emailAddress: "grace@example.com", givenName: "Grace", familyName: "Sanders",
      addressLines: ["1 Sandbox Loop"], locality: "Arlington", postalCode: "22201-0042", administrativeArea: "VA",
      country: "United States", countryCode: "US"),
    SandboxContact(
      id: "jp-tokyo", label: "Tokyo, Japan", phoneNumber: "+81312345678", emailAddress: "hanako@example.com",
      givenName: "花子", familyName: "砂場", phoneticGivenName: "はなこ", phoneticFamilyName: "すなば",
      addressLines: ["神宮前1-2-3"], subLocality: "神宮前", locality: "渋谷区", postalCode: "150-0001",
      administrativeArea: "東京都", country: "日本", countryCode: "JP"),
    SandboxContact(
      id: "de-berlin", label: "Berlin, Germany", phoneNumber: "+493023125123", emailAddress: "konrad@example.com",
      givenName: "Konrad", familyName: "Größe", addressLines: ["Sandkastenallee 5"], locality: "Berlin",
      postalCode: "10115", administrativeArea: "", country: "Deutschland", countryCode: "DE"),
    SandboxContact(
      id: "fr-paris", label: "Paris, France", phoneNumber: "+33199001234", emailAddress: "chloe@example.com",
      givenName: "Chloé", familyName: "L’Hôpital", addressLines: ["7 rue du Bac à Sable"], locality: "Paris",
      postalCode: "75001", administrativeArea: "", country: "France", countryCode: "FR"),
    SandboxContact(
      id: "ca-ottawa", label: "Ottawa, Canada", phoneNumber: "+16135550123", emailAddress: "margaret@example.com",
      givenName: "Margaret", familyName: "Sable", addressLines: ["80 Sandbox Drive"], locality: "Ottawa",
      postalCode: "K1A 0B1", administrativeArea: "ON", country: "Canada", countryCode: "CA"),
    SandboxContact(
      id: "gb-bad-postal-code", label: "London, with a postal code that does not exist",
      phoneNumber: "+442079460124", emailAddress: "babbage@example.com", givenName: "Charles", familyName: "Sandford",
      addressLines: ["1 Sandbox Street"], locality: "London", postalCode: "ZZ99 9ZZ", administrativeArea: "",
      country: "United Kingdom", countryCode: "GB"),
    SandboxContact(
      id: "gb-incomplete", label: "London, without a street or a telephone", emailAddress: "lovelace@example.com",
      givenName: "Byron", familyName: "Sandford", addressLines: [], locality: "London", postalCode: "EC1A 1BB",
      administrativeArea: "", country: "United Kingdom", countryCode: "GB"),
    SandboxContact(
      id: "aq-undeliverable", label: "Antarctica, without delivery", phoneNumber: "+6723123456",
      emailAddress: "amundsen@example.com", givenName: "Roald", familyName: "Sandvik",
      addressLines: ["Research Station"], locality: "Ross Island", postalCode: "", administrativeArea: "",
      country: "Antarctica", countryCode: "AQ"),
  ]

  /// The contact with this id.
  package static func contact(id: String) -> SandboxContact? { all.first { $0.id == id } }
}
