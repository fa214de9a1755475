"""Calls the client in Python as lines of standard input say, and answers each with a line."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Examples/back-end"))
import tender_client  # noqa: E402


def called(name, arguments):
    if name == "signed":
        method, path, body, key, date = arguments
        return tender_client.signed(method, path, None if body is None else body.encode(), key, date)
    if name == "isFromTender":
        signature, body, secret = arguments
        return tender_client.is_from_tender(signature, body.encode(), secret)
    return getattr(tender_client, re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name))(*arguments)


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"answer": called(asked["call"], asked["arguments"])}
    except tender_client.TenderError as error:
        answer = {"refusal": {"status": error.status, "code": error.code, "said": error.message, "field": error.field,
                              "errorId": error.error_id, "words": str(error)}}
    except Exception as error:
        answer = {"lost": repr(error)}
    print(json.dumps(answer), flush=True)
