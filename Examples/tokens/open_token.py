"""python3 open_token.py SOCKET TOKEN-FILE AMOUNT CURRENCY [APPLICATION-DATA [AT]]"""
import base64, hashlib, json, socket, sys

path, file, amount, currency, data, at = (sys.argv[1:] + [None, None])[:6]
call = {
    "call": "decrypt", "spend": True,
    # The body of the request, unchanged.
    "token": base64.b64encode(open(file, "rb").read()).decode(),
    "confirm": {"amount": int(amount), "currency": currency,
                "applicationDataHash": hashlib.sha256(data.encode()).hexdigest() if data else None},
}
if at:
    call["at"] = at  # Only for a token of a test: without it the token must have arrived now.

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(path)
    connection.sendall(json.dumps(call).encode() + b"\n")
    answer = json.loads(connection.makefile().readline())
if not answer["verified"]:
    sys.exit(print(f"refused: {answer['code']}: {answer['advice']}") or 1)
card = answer["paymentData"]
print(f"paid {answer['amount']} {answer['currency']}, card {card['applicationPrimaryAccountNumber'][-4:]}, "
      f"until {card['applicationExpirationDate']}")
