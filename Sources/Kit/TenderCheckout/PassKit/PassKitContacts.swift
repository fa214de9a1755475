#if canImport(PassKit)
  import Foundation
  public import PassKit
  public import TenderSheet

  #if canImport(Contacts)
    import Contacts
  #endif

  /// Converts between PassKit's contacts and Tender's.
  public enum ContactConverter {
    /// The contact before the shopper has authorized.
    public static func redacted(_ contact: PKContact) -> RedactedContact {
      let address = contact.postalAddress
      return RedactedContact(
        subLocality: address?.subLocality, locality: address?.city,
        subAdministrativeArea: address?.subAdministrativeArea, administrativeArea: address?.state,
        postalCode: address?.postalCode, countryCode: address?.isoCountryCode)
    }

    /// What comes with the authorized payment.
    public static func full(_ contact: PKContact) -> FullContact {
      let (name, address) = (contact.name, contact.postalAddress)
      let lines = (address?.street ?? "").split(whereSeparator: \.isNewline).map(String.init)
      return FullContact(
        givenName: name?.givenName, familyName: name?.familyName,
        phoneticGivenName: name?.phoneticRepresentation?.givenName,
        phoneticFamilyName: name?.phoneticRepresentation?.familyName, phoneNumber: contact.phoneNumber?.stringValue,
        emailAddress: contact.emailAddress, addressLines: lines, subLocality: address?.subLocality,
        locality: address?.city, subAdministrativeArea: address?.subAdministrativeArea,
        administrativeArea: address?.state, postalCode: address?.postalCode, country: address?.country,
        countryCode: address?.isoCountryCode, namePrefix: name?.namePrefix)
    }

    /// The contact that a sheet opens with. Devices use address, e-mail and phone.
    public static func passKit(_ contact: FullContact) -> PKContact {
      let result = PKContact()
      if contact.hasName { result.name = name(contact) }
      result.emailAddress = contact.emailAddress
      result.phoneNumber = contact.phoneNumber.map { CNPhoneNumber(stringValue: $0) }
      if OrderAddress(contact) != nil { result.postalAddress = address(contact) }
      return result
    }

    private static func name(_ contact: FullContact) -> PersonNameComponents {
      var name = PersonNameComponents()
      (name.namePrefix, name.givenName, name.familyName) = (contact.namePrefix, contact.givenName, contact.familyName)
      guard contact.phoneticGivenName != nil || contact.phoneticFamilyName != nil else { return name }
      var phonetic = PersonNameComponents()
      (phonetic.givenName, phonetic.familyName) = (contact.phoneticGivenName, contact.phoneticFamilyName)
      name.phoneticRepresentation = phonetic
      return name
    }

    private static func address(_ contact: FullContact) -> CNPostalAddress {
      let address = CNMutablePostalAddress()
      address.street = contact.addressLines.joined(separator: "\n")
      address.subLocality = contact.subLocality ?? ""
      address.city = contact.locality ?? ""
      address.subAdministrativeArea = contact.subAdministrativeArea ?? ""
      address.state = contact.administrativeArea ?? ""
      address.postalCode = contact.postalCode ?? ""
      address.country = contact.country ?? ""
      address.isoCountryCode = contact.countryCode ?? ""
      return address
    }
  }
#endif
