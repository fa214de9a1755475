public import Foundation

// The parts of the Contacts framework that PassKit's contacts use. On Apple's platforms PassKit re-exports nothing of
// it; the adapter imports Contacts where there is one.

open class CNPostalAddress: NSObject {
  public fileprivate(set) var street = ""
  public fileprivate(set) var subLocality = ""
  public fileprivate(set) var city = ""
  public fileprivate(set) var subAdministrativeArea = ""
  public fileprivate(set) var state = ""
  public fileprivate(set) var postalCode = ""
  public fileprivate(set) var country = ""
  public fileprivate(set) var isoCountryCode = ""

  public override init() {}
}

open class CNMutablePostalAddress: CNPostalAddress {
  public override var street: String {
    get { super.street }
    set { super.street = newValue }
  }
  public override var subLocality: String {
    get { super.subLocality }
    set { super.subLocality = newValue }
  }
  public override var city: String {
    get { super.city }
    set { super.city = newValue }
  }
  public override var subAdministrativeArea: String {
    get { super.subAdministrativeArea }
    set { super.subAdministrativeArea = newValue }
  }
  public override var state: String {
    get { super.state }
    set { super.state = newValue }
  }
  public override var postalCode: String {
    get { super.postalCode }
    set { super.postalCode = newValue }
  }
  public override var country: String {
    get { super.country }
    set { super.country = newValue }
  }
  public override var isoCountryCode: String {
    get { super.isoCountryCode }
    set { super.isoCountryCode = newValue }
  }
}

open class CNPhoneNumber: NSObject {
  public let stringValue: String
  public init(stringValue string: String) { stringValue = string }
}

open class CNContact: NSObject {}

public let CNPostalAddressStreetKey = "street"
public let CNPostalAddressSubLocalityKey = "subLocality"
public let CNPostalAddressCityKey = "city"
public let CNPostalAddressSubAdministrativeAreaKey = "subAdministrativeArea"
public let CNPostalAddressStateKey = "state"
public let CNPostalAddressPostalCodeKey = "postalCode"
public let CNPostalAddressCountryKey = "country"
public let CNPostalAddressISOCountryCodeKey = "ISOCountryCode"
