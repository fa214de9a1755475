"""What the kit encrypts for the platform API. An independent implementation of JOSE opens the same vector: Tests/Judges/jose."""

import json

from claims import claim
from fakeserver import ROOT, fake_server

VECTOR = json.loads((ROOT / "Tests/Support/Vectors/customer-input.json").read_text(encoding="utf-8"))
KEY = f"/client/v1/{VECTOR['customerId']}/crypto/publickey"
ENCRYPT = """
    const { encryptCustomerInput } = await import("/applepay/customer-input.js");
    const [session, paymentData, transactionIdentifier, random] = arguments;
    // As text until here: the browser's driver sorts the members of an object.
    const token = { paymentData: JSON.parse(paymentData), transactionIdentifier };
    if (random) {
      let next = 0;
      crypto.getRandomValues = (array) => {
        for (let index = 0; index < array.length; index += 1, next += 2) array[index] = parseInt(random.substr(next, 2), 16);
        return array;
      };
    }
    return encryptCustomerInput(session, token);
    """


def encrypted(shopper, shop, ending="", random=None):
    session = {"clientSessionId": VECTOR["clientSessionId"], "customerId": VECTOR["customerId"],
               "clientApiUrl": shop.origin + ending}
    return shopper.script(ENCRYPT, session, VECTOR["paymentData"], VECTOR["transactionIdentifier"], random)


@claim(page=None)
def a_customer_input_is_that_of_the_vector_in_every_part_but_the_wrapped_key(shopper):
    with fake_server(body="") as shop:
        shop.files[KEY] = json.dumps({"keyId": VECTOR["keyId"], "publicKey": VECTOR["publicKey"]})
        shopper.browser.get(shop.origin)
        made, expected = encrypted(shopper, shop, random=VECTOR["random"]).split("."), VECTOR["madeByKits"].split(".")
        assert [made[part] for part in (0, 2, 3, 4)] == [expected[part] for part in (0, 2, 3, 4)], made
        assert len(made[1]) == len(expected[1]) and made[1] != expected[1], "the wrapped key is not random"


@claim(page=None)
def a_customer_input_is_another_one_each_time_and_finds_the_server_with_or_without_client(shopper):
    with fake_server(body="") as shop:
        shop.files[KEY] = json.dumps({"keyId": VECTOR["keyId"], "publicKey": VECTOR["publicKey"]})
        shopper.browser.get(shop.origin)
        made = [encrypted(shopper, shop, ending) for ending in ("", "/", "/client", "/client/")]
        assert len(set(made)) == 4 and all(text.count(".") == 4 for text in made), made


@claim(page=None)
def without_a_public_key_nothing_is_encrypted(shopper):
    with fake_server(body="") as shop:
        shopper.browser.get(shop.origin)
        answer = shopper.script("""
            const { encryptCustomerInput } = await import("/applepay/customer-input.js");
            const session = { clientSessionId: "s", customerId: "none", clientApiUrl: location.origin };
            return encryptCustomerInput(session, { paymentData: {} }).then(() => "encrypted", (error) => error.message);
            """)
        assert "404" in answer, answer
        shopper.browser_errors()
