"""Hostile values, and the ways to make a good request hostile. All of it follows from the dice."""
import json

MARKS = "\u0301\u0327"
# YAML that is small as a text and large, or deep, as a document; a list without two equal elements.
WIDE = "\nroutes: [&a0 [x], " + ", ".join(f"&a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 30)) + "]\n"
DEEP = "\nroutes: [&a0 [x], " + ", ".join(f"&a{level} {'[' * 400}*a{level - 1} {']' * 400}" for level in range(1, 75)) + "]\n"
LIST = ",".join(f"n{number}" for number in range(9_000))
# What some reader may fail at: empty splits, the ends of numbers, bytes that end a text, marks that compare slowly.
WORDS = [
    "", "=", "==", ";", ";=", "=;", "&", "&=", "a=", "=a", ";=;", ":", "::", ",", ",,", "|", ".", "..", "../../x", "/", "//", "-", "--", "+",
    "$", "$$$$$", "%", "%f", "%zz", "%00", "\0", "a\0b", " ", "\t", "\r\n", "\r\n\r\n", "\n", "\x7f", "\"", "'", "\"\u0301", "<b>", "<\u0301b>",
    "{{x}}", "=1+1", "=HYPERLINK(\"x\")", "@x", "\ufeff", "\u202e", "\u2028", "\U0001f1e6", "\U0001f468\u200d", "é", "ß", "İ", "null",
    "true", "NaN", "Infinity", "0", "-0", "-1", "00", "1e9", "0x10", "1.", ".5", "1,5", "0.001", "1.005", "9" * 40, "-" + "9" * 40,
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "92233720368547758.07", "2147483648",
    "4294967296", "18446744073709551616", "0000-00-00", "2026-02-30", "2026-13-01", "9999-12-31", "-1-01-01", "9223372036854775807-01-01",
    "2026-11-28T25:61:61Z", "9999999999-12-31T23:59:59Z", "1969-12-31T23:59:59.999999999Z", "EUR", "CLP", "KWD", "JPY", "XXX", "eur", "٣", "１２",
    "http://", "https://[::1", "http://x:99999/", "http://user@/", "ftp://x", "javascript:x", "a@b", "@", "a@" + "b." * 60, "*", "*.*",
    "xn--", "xn--a", "[::]", "1.2.3.4.5", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "MIIBAA==", "A", "AA", "AAA=", "====", "scrypt$1$1$1$$", WIDE, DEEP, LIST, "\n? *a\n: b\n", "\na: &a [*a]\n",
    "visa=masterCard", "network=", "amount=-", "amount=1-", "currency==", "route=;"]
NUMBERS = [0, -1, 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 10**30, 1e308, 0.1, -0.0, 10**17, 92233720368547758]
HEADERS = [
    "Cookie", "Sec-Fetch-Site", "Origin", "Host", "Content-Type", "Content-Disposition", "Accept-Encoding", "Accept-Language", "If-None-Match",
    "Range", "Referer", "User-Agent", "Expect", "Authorization", "Date", "X-Forwarded-For", "X-GCS-ClientMetaInfo", "X-GCS-Idempotence-Key",
    "X-GCS-Content-SHA256", "Idempotency-Key", "Connection", "Upgrade", "Stripe-Signature", "Sandbox-Signature", "X-GCS-KeyId", "Cko-Signature"]
# What some headers' readers split; any header may get any of it.
VALUES = {
    "Content-Type": ["multipart/form-data; =", "multipart/form-data; boundary", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"",
                     "multipart/form-data; boundary=" + "a" * 300, "text/plain; charset", "application/json; charset=", "application/json;=", "/", ";"],
    "Content-Disposition": ["form-data; =", "form-data; name", "form-data; name=", ";", "="],
    "Cookie": ["tender-office", "tender-office=", "tender-office=;=", "=;=;", "tender-office=" + MARKS * 500, "a=b; " * 200],
    "Sec-Fetch-Site": ["same-origin", "cross-site", "same-origin\u0301", MARKS * 3_000], "Origin": ["null", "http://", "//", "http://localhost:0"],
    "Accept-Encoding": ["q=", "gzip;q=", "gzip;q=1.9999", "br;q=2", ";", "*;q=0"], "If-None-Match": ["W/", "\"", "*", ",,"], "Range": ["bytes=-", "bytes=9-1"],
    "Authorization": ["GCS v1HMAC:", "GCS v1HMAC::", "GCS v1HMAC:a", "GCS v1Client:", "Basic ", "Bearer ", "GCS"],
    "Date": ["Thu, 00 Jan 0000 00:00:00 GMT", "Thu, 01 Jan 99999 00:00:00 GMT", "Fri, 99 Xyz 2026 99:99:99 GMT", ""],
    "Sandbox-Signature": ["t=,v1=", "t=9223372036854775808,v1=00", "t=-9223372036854775808,v1=", "=", ",", "v1", "t"],
    "Stripe-Signature": ["t=,v1=", "t=9223372036854775807,v1=00", "t=-9223372036854775808,v1=00", "=", ",", "t"],
    "Expect": ["100-continue", "x"], "Upgrade": ["websocket", "h2c"], "Accept-Language": ["en-;q=,*", "-", "x" * 300, "en;q=9e99"], "Host": ["", ":", "a:b", "[::"]}


def long_text(dice):
    """As long as texts may be here and there."""
    size = dice.choice([30, 300, 3_000, 7_000, 15_000, 60_000])
    unit = dice.choice([MARKS, MARKS, MARKS, "a", "\u0301", "a" + MARKS * 15, "\U0001f1e6", "=", ";", ",", "\"", "%", " ", "/", "é", "9", "&a=", "\0",
                        "\u1100\u1161", "\ufdfa", "\u0f71\u0f72"])
    return dice.choice(["", "a"]) + unit * (size // len(unit.encode()))


def text(dice, known=""):
    """A word, a long text, or the known one with a part that is another."""
    kind = dice.random()
    if kind < 0.5:
        return dice.choice(WORDS)
    if kind < 0.65:
        return long_text(dice)
    place = dice.randint(0, len(known))
    return known[:place] + dice.choice(WORDS) + known[place + dice.choice([0, 0, 1, 5]):]


class Raw(str):
    """Stands in JSON as it is."""


def json_bytes(value):
    """JSON, also of what Python's writer would not write: keys that occur twice, numbers of any length."""
    if isinstance(value, Raw):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return b"{" + b",".join(json_bytes(key) + b":" + json_bytes(item) for key, item in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(json_bytes(item) for item in value) + b"]"
    return json.dumps(value, ensure_ascii=isinstance(value, str) and "\ud800" <= value[:1] <= "\udfff").encode("utf-8", "surrogatepass")


def places(value, found):
    """Every member and element: its container and its key."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        found.append((value, key))
        places(item, found)
    return found


def change_json(value, dice):
    """Changes one place of the document."""
    found = places(value, [])
    if not found:
        return Raw(dice.choice(["", "{", "[]", "{}", "null", "0", "\"\"", "[" * 30_000, "{\"a\":" * 40, "\ufeff{}", "{\"a\":1,}"]))
    container, key = dice.choice(found)
    old = container[key]
    kind = dice.randrange(12)
    if kind < 4:
        container[key] = text(dice, old if isinstance(old, str) else str(old))
    elif kind < 7:
        container[key] = dice.choice(NUMBERS) if dice.random() < 0.8 else Raw("9" * dice.choice([20, 400, 50_000]))
    elif kind == 7:
        container[key] = dice.choice([None, True, [], {}, [[]], [{}], "", 0, Raw("\"\\ud800\""), Raw("1e400"), Raw("-"), Raw("[" * 60)])
    elif kind == 8 and isinstance(container, dict):
        container[text(dice, str(key))] = old
    elif kind == 9:
        container[key] = [old] * dice.choice([2, 100, 2_000])
    elif kind == 10:
        del container[key]
    elif isinstance(old, dict) and old:
        name = next(iter(old))
        container[key] = Raw(json_bytes(old)[:-1].decode("utf-8", "surrogatepass") + f",\"{name}\":0}}")
    else:
        container[key] = dice.choice(NUMBERS)
    return value


def change_fields(fields, dice):
    """Changes one field of a form."""
    place = dice.randrange(len(fields) + 1)
    kind = dice.randrange(8)
    if place == len(fields) or kind == 0:
        fields.insert(place, (text(dice), text(dice)))
    elif kind == 1:
        fields[place:place + 1] = [fields[place]] * dice.choice([0, 2, 99, 3_000])
    elif kind == 2:
        fields[place] = (text(dice, fields[place][0]), fields[place][1])
    else:
        fields[place] = (fields[place][0], text(dice, fields[place][1]))
    return fields


def change_bytes(data, dice):
    """Changes some bytes, without regard to what they mean."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 5])):
        place, kind = dice.randint(0, len(data)), dice.randrange(7)
        size = dice.choice([1, 1, 2, 8, 64, 1_000])
        if kind == 0:
            data[place:place + size] = b""
        elif kind == 1:
            data[place:place] = data[place:place + size]
        elif kind == 2:
            data[place:place] = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        elif kind == 3:
            data[place:place] = bytes([dice.randrange(256)]) * size
        elif kind == 4:
            del data[place:]
        elif place < len(data):
            data[place] = dice.choice([0, 0x7F, 0x80, 0xFF, data[place] ^ 1 << dice.randrange(8), dice.randrange(256)])
    return bytes(data)


def change_target(target, dice):
    """Changes a part of the path, or the query."""
    path, mark, query = target.partition("?")
    escape = lambda value: "".join(chr(byte) if 0x21 <= byte < 0x7F and byte not in b"%#?" else f"%{byte:02x}"
                                   for byte in value.encode("utf-8", "surrogatepass"))
    raw = dice.random() < 0.2
    part = lambda known: (text(dice, known).replace(" ", "").replace("\r", "").replace("\n", "") if raw else escape(text(dice, known)))[:20_000]
    if query and dice.random() < 0.7:
        pairs = query.split("&")
        place = dice.randrange(len(pairs))
        name, _, value = pairs[place].partition("=")
        pairs[place] = dice.choice([f"{name}={part(value)}", f"{name}={part(value)}", name, f"{part(name)}={value}", pairs[place] + "&" + pairs[place]])
        return path + mark + "&".join(pairs)
    pieces = path.split("/")
    kind = dice.randrange(4)
    if kind == 0:
        return target + ("&" if query else "?") + f"{part('a')}={part('b')}"
    place = dice.randrange(1, len(pieces)) if len(pieces) > 1 else 0
    pieces[place] = part(pieces[place])
    if kind == 1:
        pieces.insert(place, part(""))
    return "/".join(pieces) + mark + query


def change_headers(headers, dice):
    """Adds or changes a header."""
    kind = dice.randrange(10)
    if kind == 0:
        headers += [(f"X-{number}", "a") for number in range(dice.choice([50, 100, 130, 2_000]))]
    elif kind == 1:
        headers += [(dice.choice(HEADERS), dice.choice(WORDS[:12]))] * dice.choice([2, 100])
    elif kind == 2:
        headers.append((dice.choice(["a" * 15_000, "", " ", ":", "a b", "\u0301" * 50]), "a"))
    else:
        name = dice.choice(HEADERS if dice.random() < 0.4 else list(VALUES))
        value = dice.choice(VALUES[name]) if name in VALUES and dice.random() < 0.7 else text(dice).replace("\r", "").replace("\n", "")
        if dice.random() < 0.8:
            headers[:] = [header for header in headers if header[0].lower() != name.lower()]
        headers.append((name, value))
    return headers
