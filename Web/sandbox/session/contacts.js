// Which part of a contact a page gets, and when.

const FIELDS = {
  email: ["emailAddress"],
  phone: ["phoneNumber"],
  name: ["givenName", "familyName"],
  phoneticName: ["phoneticGivenName", "phoneticFamilyName"],
  postalAddress: [
    "givenName",
    "familyName",
    "addressLines",
    "subLocality",
    "locality",
    "postalCode",
    "subAdministrativeArea",
    "administrativeArea",
    "country",
    "countryCode",
  ],
};
const REDACTED = ["subLocality", "locality", "administrativeArea", "country", "countryCode"];

const pick = (contact, members) =>
  Object.fromEntries(members.filter((name) => contact[name] != null).map((name) => [name, contact[name]]));

/** After authorization: what was asked for, whole. */
export const fullContact = (contact, fields) => pick(contact, [...new Set(fields.flatMap((field) => FIELDS[field]))]);

/** Before authorization: where, and not who; in Canada and the United Kingdom not even the street. */
export const redactedContact = (contact) => {
  const postalCode = contact.postalCode == null ? {} : { postalCode: redactedPostalCode(contact) };
  return { ...pick(contact, REDACTED), ...postalCode };
};

const redactedPostalCode = ({ postalCode, countryCode = "" }) => {
  switch (countryCode.toUpperCase()) {
    case "CA":
    case "GB":
      return postalCode.slice(0, -3).trimEnd();
    case "US":
      return postalCode.slice(0, 5);
    default:
      return postalCode;
  }
};

const joined = (...parts) => parts.filter(Boolean).join(" ");

/** An address as one would write it on an envelope, without a blank line. */
export const addressLines = (contact) =>
  [
    joined(contact.givenName, contact.familyName),
    ...(contact.addressLines ?? []),
    joined(contact.postalCode, contact.locality),
    contact.country ?? contact.countryCode,
  ].filter(Boolean);

/** A contact without an address: as much of it as the page asked for. */
export const reachLines = (contact, fields) => {
  const { givenName, familyName, phoneticGivenName, phoneticFamilyName, phoneNumber, emailAddress } = fullContact(
    contact,
    fields,
  );
  const names = [joined(givenName, familyName), joined(phoneticGivenName, phoneticFamilyName)];
  return [...names, phoneNumber, emailAddress].filter(Boolean);
};
