#!/usr/bin/env python3
"""A collector with OpenTelemetry's own messages against the traces of `tender-sandbox demo`: verify.py TENDER

The demo pays through an emulated Stripe and sends every trace here. Each request must be OTLP 1 in JSON, read strictly: an unknown
field, a wrong type or a wrong number is a mistake. A payment's spans must be one tree whose parts lie within their parents in
time, with the names and attributes of docs/monitoring.md and no others. What a payment holds that must stay out of a trace is
looked for in everything that came. The collector fails twice in between.
"""
import base64
import contextlib
import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
import demo_server  # noqa: E402

MESSAGES = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
}
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
ROOT = pathlib.Path(__file__).resolve().parents[3]


def in_base64(value):
    """The same JSON with its ids in base64: OTLP writes them in hex, and protobuf's reader takes every text of bytes for base64."""
    if isinstance(value, list):
        return [in_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: base64.b64encode(id_of(key, one)).decode() if key in IDS else in_base64(one) for key, one in value.items()}


def id_of(key, text):
    """The bytes of an id: lowercase hex of the right length, not all 0, or nothing for the parent of a root."""
    if key == "parentSpanId" and text == "":
        return b""
    if not re.fullmatch(rf"[0-9a-f]{{{2 * IDS[key]}}}", text) or not int(text, 16):
        raise ValueError(f"{key} is {text!r}")
    return bytes.fromhex(text)


def check_numbers(value):
    """The specification of OTLP's JSON: 64-bit integers are texts, enumerations are numbers."""
    if isinstance(value, list):
        for one in value:
            check_numbers(one)
    if isinstance(value, dict):
        for key, one in value.items():
            if key.endswith("UnixNano") or key in ("intValue", "asInt", "count") and not isinstance(one, (dict, list)):
                if not isinstance(one, str) or not re.fullmatch(r"-?\d+", one):
                    raise ValueError(f"{key} is {one!r}, which is no text of a number")
            if key in ("kind", "code", "aggregationTemporality") and type(one) is not int:
                raise ValueError(f"{key} is {one!r}, which is no number")
            check_numbers(one)


def read(path, body):
    value = json.loads(body)
    check_numbers(value)
    return json_format.Parse(json.dumps(in_base64(value)), MESSAGES[path](), ignore_unknown_fields=False)


class Collector:
    def __init__(self):
        self.bodies, self.mistakes, self.failures = [], [], [503, 429]
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = collector.take(self.path, self.headers, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path, headers, body):
        if self.failures:
            return self.failures.pop()
        try:
            if headers["Content-Type"] != "application/json":
                raise ValueError(f"the type is {headers['Content-Type']}")
            self.bodies.append((path, body, read(path, body)))
        except (KeyError, ValueError, json_format.ParseError) as error:
            self.mistakes.append(f"{path}: {error}: {body[:500]}")
            return 400
        return 200

    def spans(self):
        return [span for path, _, message in self.bodies if path == "/v1/traces" for resource in message.resource_spans
                for scope in resource.scope_spans for span in scope.spans]


def metrics_of(message):
    """Name, kind and labels of each metric; a mistake where a histogram does not add up."""
    found = {}
    for resource in message.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                points = getattr(metric, kind).data_points
                found[metric.name] = (kind, {one.key for point in points for one in point.attributes})
                for point in points if kind == "histogram" else []:
                    if sum(point.bucket_counts) != point.count or len(point.bucket_counts) != len(point.explicit_bounds) + 1:
                        raise ValueError(f"{metric.name} does not add up: {point}")
                if kind == "sum" and not (metric.sum.is_monotonic and metric.sum.aggregation_temporality == 2):
                    raise ValueError(f"{metric.name} is no count since the start")
    return found


def facts(span):
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def documented(page):
    """The names of spans and the attributes that docs/monitoring.md has."""
    part = page[page.index("### What a trace holds"):page.index("## One line for each call")]
    tables = re.findall(r"(?m)^\| `([^`]+)`", part)
    return {name for name in tables if re.fullmatch(r"[a-z_]+", name)}, {name for name in tables if "." in name}


def mistakes_of(spans, names, attributes):
    found = []
    by_id = {span.span_id: span for span in spans}
    if len(by_id) != len(spans):
        found.append("two spans have one id")
    for span in spans:
        if span.name not in names and not re.fullmatch(r"[A-Z]+ /\S*", span.name) and span.name != "GET unmatched":
            found.append(f"a span is called {span.name}")
        found += [f"{span.name} has the attribute {key}" for key in facts(span) if key not in attributes]
        if span.end_time_unix_nano < span.start_time_unix_nano or span.start_time_unix_nano < 1_600_000_000 * 10**9:
            found.append(f"{span.name} lasts from {span.start_time_unix_nano} to {span.end_time_unix_nano}")
        parent = by_id.get(span.parent_span_id)
        if not parent:
            continue
        if parent.trace_id != span.trace_id:
            found.append(f"{span.name} is in another trace than its parent")
        if span.name != "deliver" and not (parent.start_time_unix_nano - 1_000 <= span.start_time_unix_nano
                                           and span.end_time_unix_nano <= parent.end_time_unix_nano + 1_000):
            found.append(f"{span.name} is outside of its parent {parent.name}")
    return found


def tree(spans, root):
    """The names below a span, in the order of time, with what a provider was asked for."""
    below = sorted((span for span in spans if span.parent_span_id == root.span_id), key=lambda span: span.start_time_unix_nano)
    return [(" ".join(filter(None, [span.name, str(facts(span).get("tender.operation", facts(span).get("tender.to", "")))])),
             tree(spans, span)) for span in below]


def flat(branches):
    return [name for name, inner in branches for name in [name, *flat(inner)]]


def await_that(condition, failure):
    end = time.monotonic() + demo_server.STILL
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(failure())
        time.sleep(0.2)


def main(tender):
    collector = Collector()
    with contextlib.ExitStack() as ends:
        demo = ends.enter_context(demo_server.running(tender, "--collector", collector.address, "--connector", "stripe"))
        base = int(demo.server.rsplit(":", 1)[1])
        merchant = next(path for path in demo.home.rglob("merchants/harbour"))
        paid = subprocess.run([f"{tender}-sandbox", "pay", "--port", str(base), "--merchant", str(merchant), "--provider", "--json"],
                              capture_output=True, text=True, timeout=demo_server.STILL)
        if paid.returncode:
            raise SystemExit(f"a payment failed: {paid.stdout}{paid.stderr}")

        def payments():
            return [span for span in collector.spans() if span.name == "POST /applepay/payment"]

        def is_delivered():
            return any(len([1 for name, _ in tree(collector.spans(), span) if name == "deliver"]) == 3 for span in payments())

        def metrics():
            return [message for path, _, message in collector.bodies if path == "/v1/metrics"]

        wanted = {"tender_payments_placed_total", "tender_stage_seconds", "tender_connections_open"}

        def told():
            return metrics_of(metrics()[-1]) if metrics() else {}

        await_that(lambda: collector.mistakes or len(metrics()) > 1 and wanted <= set(told()),
                   lambda: f"of the metrics these come: {', '.join(sorted(told()))}")
        await_that(lambda: collector.mistakes or is_delivered(), lambda: f"the payment's spans do not come: {[s.name for s in collector.spans()]}")
    spans = collector.spans()
    names, attributes = documented((ROOT / "docs/monitoring.md").read_text(encoding="utf-8"))
    found = collector.mistakes + mistakes_of(spans, names, attributes)
    page = (ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
    rows = {name: ({"counter": "sum"}.get(kind, kind), set(re.findall(r"\w+", labels))) for name, kind, labels in re.findall(
        r"(?m)^\| `(tender_\w+)` \| (counter|gauge|histogram) \| ((?:`\w+`(?:, )?)*) ?\|", page)}
    found += [f"the metric {name} is {is_}, and docs/monitoring.md says {rows.get(name)}" for name, is_ in told().items() if rows.get(name) != is_]
    steps = flat(tree(spans, payments()[0]))
    wanted = ["open_token", "claim", "ask authorize", "call providers", "record", "claim", "ask capture", "call providers", "record",
              "deliver", "call webhooks", "deliver", "call webhooks", "deliver", "call webhooks"]
    if steps != wanted:
        found.append(f"the payment's steps are {steps}")
    everything = b"".join(body for _, body, _ in collector.bodies)
    secrets = re.findall(rb"\b\d{13,19}\b", re.sub(rb'"(?:startT|endT|t)imeUnixNano":"\d+"', b"", everything))
    found += [f"a number of {len(secret)} digits is in a trace" for secret in secrets]
    found += [f"{word!r} is in a trace" for word in [b"Appleseed", b"@", b"EC1", b"onlinePaymentCryptogram", b"signature"] if word in everything]
    if not any(span.name == "merchant_session" for span in spans):
        found.append("no span is of a merchant session")
    # Each check must detect a mistake before it is relied on.
    import copy
    moved = copy.deepcopy(payments()[0])
    moved.name, moved.parent_span_id, moved.span_id = "claim", moved.span_id, b"12345678"
    moved.end_time_unix_nano += 10**9
    if not mistakes_of(spans + [moved], names, attributes) or not mistakes_of(spans, names - {"claim"}, attributes):
        found.append("a span outside of its parent, or an unknown name, is not detected")
    for wrong in [{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "AA" * 16}]}]}]},
                  {"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": 1}]}]}]}, {"spans": []}]:
        with contextlib.suppress(ValueError, json_format.ParseError):
            read("/v1/traces", json.dumps(wrong))
            found.append(f"{wrong} is read")
    if found:
        raise SystemExit("opentelemetry: " + "\n".join(found))
    print(f"opentelemetry: {len(spans)} spans of {len(set(span.trace_id for span in spans))} traces, "
          f"{len(collector.bodies)} requests, {len(told())} metrics; a payment: {', '.join(steps)}")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
