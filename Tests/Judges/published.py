"""Bodies against a vendor's published specification, which is no part of this repository.

PROVIDER_BODY is a command with its arguments, such as `python3 /specs/provider-body`. It is called with the name of the
vendor, for Adyen that of the schema, and `-`; it reads a body from its standard input, and ends with 0 if that is valid.
Without PROVIDER_BODY nothing is compared.
"""
import json
import os
import shlex
import subprocess

from harness import Failed

COMMAND = shlex.split(os.environ.get("PROVIDER_BODY", ""))
compared = 0


def validate(vendor, body, *schema):
    """- Throws: Failed for a body that is not valid."""
    global compared
    if not COMMAND:
        return
    # The specification's program needs packages of its own, not the judge's.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run([*COMMAND, vendor, *schema, "-"], input=json.dumps(body), text=True, capture_output=True,
                            env=clean, check=False)
    if result.returncode:
        raise Failed(f"not valid as {' '.join((vendor, *schema))}: {result.stdout}{result.stderr} {body}")
    compared += 1


def summary():
    return f", {compared} bodies are valid under the published specification" if COMMAND else ""
