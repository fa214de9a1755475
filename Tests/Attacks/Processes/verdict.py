"""Checks the files of a deployment: with the auditor, with SQLite, and by a search for secrets. Then repeats the checks
with injected damage, which they must detect."""
import base64, concurrent.futures, glob, json, os, shutil, sqlite3, subprocess, tempfile
from deployment import BINARIES, MERCHANT

CARD = "4761739000000012"


def verify(deployment, shoppers=(), directory=None, quiet=False):
    """Whether all checks of the directory pass."""
    directory = directory or deployment.directory
    here = lambda path: path.replace(deployment.directory, directory)
    write_secrets(deployment, shoppers, directory)
    auditor = subprocess.run(
        [f"{BINARIES}/payment-auditor", here(deployment.store), here(deployment.ledger), directory + "/client.jsonl",
         directory + "/sink.jsonl", directory + "/secrets", *written(directory)],
        stdout=subprocess.DEVNULL if quiet else None)
    faults = [f"{path}: {fault}" for path in stores(directory) for fault in broken(path)]
    faults += presented_again(deployment.kind, here(deployment.ledger))
    if not quiet:
        print(*faults, sep="\n", end="\n" if faults else "", flush=True)
    return auditor.returncode == 0 and not faults


def written(directory):
    """Every file that the processes wrote, except those that must hold secrets: the merchant's keys, the sandbox's
    authorities, the key that signs guest tokens, and the list of secrets to search for."""
    files = [path for path in glob.glob(directory + "/**/*", recursive=True) if os.path.isfile(path)]
    kept = tuple(f"{directory}/{name}" for name in (
        "merchants/", "platform/", "connectors/", "sandbox/pki/", "secrets", "data/guest"))
    return [path for path in files if not path.startswith(kept) and not path.endswith((".so", ".sock", ".lock"))]


def lost_answers(deployment):
    """Counts the payments that a client was told to be successful and that the store does not have."""
    told = {line["payment"] for line in map(json.loads, open(deployment.directory + "/client.jsonl"))
            if line["outcome"] == "success"}
    store = sqlite3.connect(f"file:{deployment.store}?mode=ro", uri=True)
    try:
        return len(told - {row[0] for row in store.execute("SELECT id FROM payments")})
    finally:
        store.close()


def write_secrets(deployment, shoppers, directory):
    """The card, the merchant's keys, and payment tokens of the run."""
    keys = glob.glob(f"{deployment.directory}/merchants/{MERCHANT}/**/*.key", recursive=True)
    lines = [open(path).read().splitlines()[1] for path in keys]
    tokens = [token for shopper in shoppers for token in shopper.tokens]
    with open(directory + "/secrets", "w") as file:
        file.writelines(f"{secret}\n" for secret in [CARD, deployment.secret, deployment.webhook_secret, *lines, *tokens])


def stores(directory):
    return [directory + "/data/tender.db", *glob.glob(directory + "/sandbox/*.sqlite")]


def broken(path):
    """Errors that SQLite reports about a store."""
    store = sqlite3.connect(path)
    try:
        return [row[0] for row in store.execute("PRAGMA integrity_check") if row[0] != "ok"] + [
            f"a row of {row[0]} refers to nothing" for row in store.execute("PRAGMA foreign_key_check")]
    finally:
        store.close()


class Ledger:
    """What is asked of an acquirer's ledger, and how it is damaged, in SQL."""

    def __init__(self, again, unknown, twice, presented, suffix):
        self.again, self.unknown, self.twice, self.presented, self.suffix = again, unknown, twice, presented, suffix


# Each declines a payment token that it has seen with a code that no amount here triggers: 05, 2, 2000.
SANDBOX = Ledger(
    "SELECT reference FROM operations WHERE kind = 'authorize' AND response_code = '05'",
    ["UPDATE holds SET reference = 'unknown-reference' WHERE reference = "
     "(SELECT reference FROM holds WHERE state <> 'declined' AND authorized > 0 LIMIT 1)"],
    ["UPDATE holds SET merchant_reference = (SELECT MAX(merchant_reference) FROM holds WHERE authorized > 0) "
     "WHERE reference = (SELECT reference FROM holds WHERE authorized > 0 ORDER BY merchant_reference LIMIT 1)"],
    ["UPDATE operations SET response_code = '05' WHERE reference = "
     "(SELECT MAX(reference) FROM operations WHERE kind = 'authorize')"],
    "UPDATE holds SET card_suffix = '{}' WHERE reference = (SELECT MIN(reference) FROM holds)")
ADYEN = Ledger(
    "SELECT reference FROM payments WHERE refusal_code = '2'",
    ["UPDATE payments SET reference = 'unknown-reference' WHERE psp_reference = "
     "(SELECT psp_reference FROM payments WHERE authorised > 0 LIMIT 1)"],
    ["INSERT INTO payments SELECT 'ANOTHERPAYMENT', account, reference, state, amount, currency, authorised, captured, "
     "refunded, method, brand, card_suffix, refusal_code, authorization_code, network_reference, late_failure, "
     "created_at FROM payments WHERE authorised > 0 LIMIT 1"],
    ["UPDATE payments SET refusal_code = '2' WHERE psp_reference = (SELECT MIN(psp_reference) FROM payments)"],
    "UPDATE payments SET card_suffix = '{}' WHERE psp_reference = (SELECT MIN(psp_reference) FROM payments)")
BRAINTREE = Ledger(
    "SELECT order_id FROM transactions WHERE code = '2000' AND parent IS NULL AND kind = 'sale'",
    ["UPDATE transactions SET order_id = 'unknown-reference' WHERE id = "
     "(SELECT id FROM transactions WHERE kind = 'sale' AND parent IS NULL AND status = 'authorized' LIMIT 1)"],
    ["INSERT INTO transactions SELECT 'another1', merchant, kind, status, amount, currency, settled_in_parts, "
     "refunded_amount, merchant_account, order_id, parent, refunded, card_type, card_suffix, expiration, fingerprint, "
     "code, authorization_code, network_transaction_id, rejection, created_at FROM transactions "
     "WHERE kind = 'sale' AND parent IS NULL AND status = 'authorized' LIMIT 1",
     "INSERT INTO status_events SELECT 'another1', position, status, amount, source, at FROM status_events "
     "WHERE status = 'authorized' LIMIT 1"],
    ["UPDATE transactions SET code = '2000' WHERE id = "
     "(SELECT id FROM transactions WHERE kind = 'sale' AND parent IS NULL LIMIT 1)"],
    "UPDATE transactions SET card_suffix = '{}' WHERE id = (SELECT MIN(id) FROM transactions)")
STRIPE = Ledger(
    "SELECT id FROM intents WHERE decline_code = 'generic_decline'",
    ["UPDATE intents SET metadata = '{\"tender_reference\":\"unknown-reference\"}' WHERE sequence = "
     "(SELECT sequence FROM intents WHERE capturable + received > 0 LIMIT 1)"],
    ["INSERT INTO intents SELECT (SELECT MAX(sequence) + 1 FROM intents), 'pi_another', account, status, amount, currency, "
     "capturable, received, refunded, metadata, captures_by_itself, multicapture, brand, card_suffix, charge, "
     "authorization_code, network_transaction, error_code, decline_code, cancellation_reason, refunds, created_at, "
     "canceled_at FROM intents WHERE capturable + received > 0 LIMIT 1"],
    ["UPDATE intents SET decline_code = 'generic_decline' WHERE sequence = (SELECT MIN(sequence) FROM intents)"],
    "UPDATE intents SET card_suffix = '{}' WHERE sequence = (SELECT MIN(sequence) FROM intents)")
CHECKOUT_COM = Ledger(
    "SELECT reference FROM payments WHERE response_code = '20005'",
    ["UPDATE payments SET reference = 'unknown-reference' WHERE id = "
     "(SELECT id FROM payments WHERE available + captured > 0 LIMIT 1)"],
    ["INSERT INTO payments SELECT 'pay_another', channel, reference, state, amount, currency, authorized, available, "
     "captured, refunded, source, scheme, card_suffix, response_code, auth_code, scheme_id, created_at FROM payments "
     "WHERE available + captured > 0 LIMIT 1"],
    ["UPDATE payments SET response_code = '20005' WHERE id = (SELECT MIN(id) FROM payments)"],
    "UPDATE payments SET card_suffix = '{}' WHERE id = (SELECT MIN(id) FROM payments)")
# What is held there follows from the operations: one without them is held as a whole.
WORLDLINE_DIRECT = Ledger(
    "SELECT reference FROM payments WHERE error_code = '30051001'",
    ["UPDATE payments SET reference = 'unknown-reference' WHERE id = "
     "(SELECT id FROM payments WHERE status = 5 AND id NOT IN (SELECT payment FROM operations WHERE kind = 'cancel') "
     "LIMIT 1)"],
    ["INSERT INTO payments SELECT 'another', merchant, reference, parameters, amount, currency, status, captures_at_once, "
     "network, card_suffix, expiry, eci, error_code, authorization_code, created_at, changed_at FROM payments "
     "WHERE status = 5 LIMIT 1"],
    ["UPDATE payments SET error_code = '30051001' WHERE id = (SELECT MIN(id) FROM payments)"],
    "UPDATE payments SET card_suffix = '{}' WHERE id = (SELECT MIN(id) FROM payments)")
WORLDLINE_ACQUIRING = Ledger(
    "SELECT operation_id FROM operations WHERE kind = 'AUTHORIZATION' AND response_code = '82'",
    ["UPDATE operations SET operation_id = 'unknown-reference' WHERE kind = 'AUTHORIZATION' AND payment = "
     "(SELECT payment_id FROM payments WHERE authorized > 0 LIMIT 1)"],
    ["INSERT INTO payments SELECT 'another', merchant, reference, status, amount, currency, authorized, captured, refunded, "
     "is_pre_authorization, brand, card_suffix, authorization_code, scheme_transaction_id, created_at, "
     "changed_at FROM payments WHERE authorized > 0 LIMIT 1",
     "INSERT INTO operations SELECT (SELECT MAX(sequence) + 1 FROM operations), 'another', operation_id, 'another', NULL, "
     "kind, amount, currency, capture_number, response_code, contents, answer, created_at FROM operations WHERE kind = 'AUTHORIZATION' "
     "AND payment = (SELECT payment_id FROM payments WHERE authorized > 0 LIMIT 1)"],
    ["UPDATE operations SET response_code = '82' WHERE sequence = "
     "(SELECT MIN(sequence) FROM operations WHERE kind = 'AUTHORIZATION')"],
    "UPDATE payments SET card_suffix = '{}' WHERE payment_id = (SELECT MIN(payment_id) FROM payments)")
LEDGERS = {"adyen": ADYEN, "braintree": BRAINTREE, "stripe": STRIPE, "checkout-com": CHECKOUT_COM,
           "worldline-direct": WORLDLINE_DIRECT, "worldline-acquiring": WORLDLINE_ACQUIRING}


def ledger_of(kind):
    return LEDGERS.get(kind.connector, SANDBOX)


def presented_again(kind, ledger):
    """Payment tokens that reached the acquirer twice."""
    store = sqlite3.connect(ledger)
    try:
        again = store.execute(ledger_of(kind).again)
        return [f"the payment token of {row[0]} was presented twice" for row in again]
    finally:
        store.close()


def statement(path, *sql):
    store = sqlite3.connect(path, isolation_level=None)
    try:
        changed = [store.execute(text).rowcount for text in sql]
        assert all(changed), f"nothing to damage: {sql}"
    finally:
        store.close()


def lines(path, change):
    text = open(path).read().splitlines(keepends=True)
    with open(path, "w") as file:
        file.writelines(change(text))


def leak(path, text):
    with open(path, "ab") as file:
        file.write(text)


def first_payment(text):
    return json.loads(text[0])["payment"]


# Damages of the acquirer's ledger by name, and the statements that do them.
LEDGER_DAMAGES = {
    "the acquirer has a hold that the journal does not have": lambda ledger: ledger.unknown,
    "an order was charged twice": lambda ledger: ledger.twice,
    "a payment token was presented twice": lambda ledger: ledger.presented,
    "a card number is in the ledger": lambda ledger: [ledger.suffix.format(CARD)],
}

# The others: functions of the journal's store and the directory.
DAMAGES = {
    "a payment is lost from the journal": lambda journal, place: statement(
        journal, "CREATE TEMP TABLE gone AS SELECT id FROM payments WHERE captured > refunded ORDER BY id LIMIT 1",
        *[f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM gone)"
          for table, column in [("outbox", "payment"), ("operations", "payment"), ("payments", "id")]]),
    "the journal has a refund that the acquirer does not have": lambda journal, place: statement(
        journal, "UPDATE payments SET refunded = captured WHERE id = "
        "(SELECT id FROM payments WHERE captured > refunded LIMIT 1)"),
    "an entry of the audit chain was changed": lambda journal, place: statement(
        journal, "UPDATE audit SET captured = captured + 1 WHERE seq = (SELECT MIN(seq) FROM audit)"),
    "an operation was left open": lambda journal, place: statement(
        journal, "UPDATE operations SET state = 'unknown' WHERE reference = (SELECT MIN(reference) FROM operations)"),
    "a client received an answer for a payment that is gone": lambda journal, place: lines(
        place + "/client.jsonl", lambda text: text + [
            json.dumps({"order": "o", "key": "k", "outcome": "success", "payment": "never"}) + "\n"]),
    "a client received failure for a payment that was charged": lambda journal, place: lines(
        place + "/client.jsonl", lambda text: text + [
            next(line for line in text if '"success"' in line and '"captured"' not in line).replace(
                '"success"', '"failure"')]),
    "a webhook was not delivered": lambda journal, place: lines(
        place + "/sink.jsonl", lambda text: [
            line for line in text if json.loads(line)["payment"] != first_payment(text)]),
    "a webhook reported another amount": lambda journal, place: lines(
        place + "/sink.jsonl", lambda text: [text[0].replace('"captured": ', '"captured": 1')] + text[1:]),
    "a webhook was forged": lambda journal, place: lines(
        place + "/sink.jsonl", lambda text: [text[0].replace('"authentic": true', '"authentic": false')] + text[1:]),
    "a card number is in the log": lambda journal, place: leak(place + "/log", CARD.encode()),
    "a card number is in the log, in groups": lambda journal, place: leak(
        place + "/log", b" ".join(CARD.encode()[n:n + 4] for n in range(0, 16, 4))),
    "a card number is in the store, in base64": lambda journal, place: statement(
        journal, f"UPDATE baskets SET note = '{base64.b64encode(b'at ' + CARD.encode()).decode()}' "
        "WHERE id = (SELECT MIN(id) FROM baskets)"),
    "a card number is in the store's log": lambda journal, place: leak(journal + "-wal", CARD.encode()),
    "a card number is in a webhook, in hex": lambda journal, place: leak(
        place + "/sink.jsonl", CARD.encode().hex().encode()),
}


def detects(deployment, shoppers, damage):
    """Whether the checks detect a damage, injected into a copy of the files."""
    with tempfile.TemporaryDirectory(prefix="tender-damaged-") as copy:
        shutil.copytree(
            deployment.directory, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock", "*.lock", "*.so"))
        here = lambda path: path.replace(deployment.directory, copy)
        damage(here(deployment.store), here(deployment.ledger), copy)
        return not verify(deployment, shoppers, copy, quiet=True)


def all_damages(kind):
    """Every damage by name, as functions of the journal's store, the ledger and the directory."""
    def of_ledger(sql):
        return lambda journal, ledger, place: statement(ledger, *sql)

    ledger = ledger_of(kind)
    return {**{name: of_ledger(sql(ledger)) for name, sql in LEDGER_DAMAGES.items()},
            **{name: (lambda damage: lambda journal, _, place: damage(journal, place))(damage)
               for name, damage in DAMAGES.items()}}


def undetected(deployment, shoppers):
    """The damages that the checks do not detect."""
    damages = all_damages(deployment.kind)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        detected = pool.map(lambda damage: detects(deployment, shoppers, damage), damages.values())
        return [name for name, seen in zip(damages, detected) if not seen]
