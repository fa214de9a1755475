"""What a page learns of a contact before the shopper pays, country by country, and what after."""

from claims import claim
from merchantpage import BY_SCRIPT, merchant_page

# The postal code that is left of each contact's.
POSTAL_CODES = {
    "gb-london": "EC1A", "us-arlington": "22201", "jp-tokyo": "150-0001", "de-berlin": "10115", "fr-paris": "75001",
    "ca-ottawa": "K1A", "gb-bad-postal-code": "ZZ99", "gb-incomplete": "EC1A", "aq-undeliverable": "",
}
PERSONAL = {"givenName", "familyName", "phoneticGivenName", "phoneticFamilyName", "addressLines", "emailAddress",
            "phoneNumber"}


def seen(shopper):
    """By contact: as the page saw it, as the device's list says that it will be seen, and whole."""
    return shopper.script(f"""
        {BY_SCRIPT}
        const seen = {{}};
        page.open({{
          request: {{ requiredShippingContactFields: ["postalAddress", "name", "phoneticName", "email", "phone"] }},
          on: {{ shippingcontactselected: ({{ shippingContact }}, session) => {{
            window.latest = shippingContact;
            session.completeShippingContactSelection(page.update());
          }} }},
        }});
        for (const {{ id, label, redacted, ...whole }} of await applePaySandbox.contacts()) {{
          await applePaySandbox.selectShippingContact(id);
          seen[id] = {{ seen: window.latest, redacted, whole }};
        }}
        await applePaySandbox.cancel();
        return seen;""")


@claim(page=None)
def before_authorization_a_page_sees_where_and_not_who(shopper):
    with merchant_page(shopper):
        contacts = seen(shopper)
    assert set(contacts) == set(POSTAL_CODES), f"the wallet has other contacts: {sorted(contacts)}"
    for name, contact in contacts.items():
        revealed = PERSONAL & set(contact["seen"])
        assert not revealed, f"{name} reveals {revealed}"
        assert contact["seen"]["postalCode"] == POSTAL_CODES[name], f"{name}: {contact['seen']}"
        assert contact["seen"]["countryCode"] == contact["whole"]["countryCode"], f"{name}: {contact['seen']}"
        assert contact["seen"] == contact["redacted"], f"{name} is redacted otherwise by the sandbox itself: {contact}"


@claim(page=None)
def after_authorization_a_page_sees_all_that_it_asked_for(shopper):
    with merchant_page(shopper):
        payment = shopper.script(f"""
            {BY_SCRIPT}
            const {{ until }} = page.open(
              {{ request: {{ requiredShippingContactFields: ["postalAddress", "phoneticName"] }} }});
            await applePaySandbox.selectShippingContact("jp-tokyo");
            await applePaySandbox.approve();
            return (await until("paymentauthorized")).payment;""")
        contact = payment["shippingContact"]
        assert contact["postalCode"] == "150-0001" and contact["phoneticFamilyName"] == "すなば", contact
        assert "emailAddress" not in contact and "phoneNumber" not in contact, contact


@claim(page=None)
def a_ride_asks_for_e_mail_and_phone_and_shows_nothing_else(shopper):
    with merchant_page(shopper):
        sheet, contact = shopper.script(f"""
            {BY_SCRIPT}
            const {{ until }} = page.open({{ request: {{ requiredShippingContactFields: ["phone", "email"] }} }});
            await applePaySandbox.selectShippingContact("gb-london");
            const sheet = document.querySelector("dialog.apple-pay-sandbox").innerText;
            await applePaySandbox.approve();
            return [sheet, (await until("paymentauthorized")).payment.shippingContact];""")
        assert contact == {"emailAddress": "ada@example.com", "phoneNumber": "+442079460123"}, contact
        assert "+442079460123, ada@example.com" in sheet, f"it does not show what it asks for: {sheet}"
        assert "Sandford" not in sheet and "Sandbox Street" not in sheet, f"it shows more than it asks for: {sheet}"


@claim(page=None)
def a_test_brings_its_own_contact(shopper):
    with merchant_page(shopper):
        seen_code = shopper.script(f"""
            {BY_SCRIPT}
            applePaySandbox.addContact({{ id: "mine", givenName: "Maud", postalCode: "SW1A 2AA", countryCode: "gb" }});
            const {{ until }} = page.open({{ request: {{ requiredShippingContactFields: ["postalAddress"] }} }});
            const {{ shippingContact }} = await until("shippingcontactselected");
            await applePaySandbox.cancel();
            return shippingContact.postalCode;""")
        assert seen_code == "SW1A", seen_code


@claim(page=None)
def a_contact_that_the_page_presets_is_offered_first(shopper):
    with merchant_page(shopper):
        chosen = shopper.script(f"""
            {BY_SCRIPT}
            page.open({{ request: {{ requiredShippingContactFields: ["postalAddress"],
              shippingContact: {{ addressLines: ["1 Quay"], locality: "Dublin", countryCode: "IE" }} }} }});
            const {{ shippingContact }} = await applePaySandbox.waitForSheet();
            await applePaySandbox.cancel();
            return shippingContact;""")
        assert chosen == "page", chosen
