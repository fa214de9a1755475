#!/usr/bin/python3
"""dashboards.py FOLDER: writes the dashboards for Grafana as JSON, one file for each.

A panel is its title, its unit and its queries; a query is an expression and what a line is called. Where an expression names a
metric, the job is added. What a server counts is added up; of what the store counts, each server says the same: the highest.
"""
import json, pathlib, re, sys

APPROVED = 'tender_authorizations_total{answer=~"approved|approved_for_less"}'
DOMAIN = 'code=~"dns_resolves|tls_.*|association_.*|site_root"'


def rate(metric, by=""):
    """What is counted in a second, by some labels."""
    return f"sum by ({by}) (rate({metric}[$__rate_interval]))" if by else f"sum(rate({metric}[$__rate_interval]))"


def share(part, whole, by):
    """Of the whole; 0 where the part was never counted."""
    return f"({rate(part, by)} or 0 * {rate(whole, by)}) / {rate(whole, by)}"


def quantiles(histogram, by="", labels="", which=("0.5", "0.95")):
    """Quantiles of a histogram, a query each."""
    name = "".join(f"{{{{{label}}}}} " for label in by.split(", ") if by)
    return [(f"histogram_quantile({q}, {rate(f'{histogram}_bucket{labels}', f'le, {by}'.rstrip(', '))})", f"{name}p{float(q) * 100:g}")
            for q in which]


# Name of the file, title, panels: title, unit or None for what is counted, queries; "number" for one that shows a number alone.
DASHBOARDS = [
    ("payments", "Payments and approval", [
        ("Payments a second, by outcome", "cps", [(rate("tender_payments_placed_total", "outcome"), "{{outcome}}")]),
        ("Approval by route", "percentunit", [
            (share(APPROVED, "tender_authorizations_total", "route"), "{{route}}")]),
        ("Approval by network", "percentunit", [
            (share(APPROVED, "tender_authorizations_total", "network"), "{{network}}")]),
        ("Approval by route and network", "percentunit", [
            (share(APPROVED, "tender_authorizations_total", "route, network"), "{{route}} {{network}}")]),
        ("Authorizations a second, by route and network", "cps", [
            (rate("tender_authorizations_total", "route, network"), "{{route}} {{network}}")]),
        ("Declines a second, by reason", "cps", [(rate("tender_declines_total", "reason"), "{{reason}}")]),
        ("Agreements that were due, in an hour, by outcome", None, [
            ("sum by (outcome) (increase(tender_agreements_scheduled_total[1h]))", "{{outcome}}")]),
        ("Authorized in an hour, in minor units", None, [
            ("sum by (currency, route) (increase(tender_authorized_minor_units_total[1h]))", "{{route}} {{currency}}")]),
        ("Cost of what is authorized, in basis points", None, [
            ("10000 * " + share("tender_route_cost_minor_units_total", "tender_authorized_minor_units_total", "route, network, currency"),
             "{{route}} {{network}} {{currency}}")]),
    ]),
    ("latency", "Latency", [
        ("Payment: the page's call, from the payment token to the outcome", "s",
         quantiles("tender_http_request_seconds", labels='{route="/applepay/payment"}', which=("0.5", "0.95", "0.99"))),
        ("Session: until the page has Apple's answer", "s",
         quantiles("tender_http_request_seconds", labels='{route="/applepay/validate"}', which=("0.5", "0.95", "0.99"))),
        ("Stages of a payment, 95th percentile", "s", quantiles("tender_stage_seconds", "stage", which=("0.95",))),
        ("Every call, 95th percentile by route", "s", quantiles("tender_http_request_seconds", "route", which=("0.95",))),
        ("Providers' answers, by route and operation", "s", quantiles("tender_acquirer_seconds", "route, operation")),
        ("Authorizations: how many take how long", "cps", [
            (rate('tender_acquirer_seconds_bucket{operation="authorize"}', "le"), "≤ {{le}} s")]),
        ("Waiting for a connection to the database, for each second", "s", [
            (rate("tender_store_wait_seconds_total", "instance"), "{{instance}}")]),
    ]),
    ("unknown", "Unknown outcomes and alarms", [
        ("Payments with an alarm", None, [("max(tender_payments_alarmed)", "alarms")], "number"),
        ("Payments of unknown outcome", None, [("max(tender_payments_unknown)", "unknown")], "number"),
        ("The oldest of them", "s", [("max(tender_payments_unknown_oldest_seconds)", "age")], "number"),
        ("Operations without an answer", None, [("max(tender_operations_open)", "open")], "number"),
        ("Payments without an outcome, by status", None, [("max by (status) (tender_payments_unsettled)", "{{status}}")]),
        ("Age of the oldest, by status", "s", [("max by (status) (tender_payments_unsettled_oldest_seconds)", "{{status}}")]),
        ("What recovery does in a minute", None, [
            ("sum by (outcome) (increase(tender_recovery_total[1m]))", "{{outcome}}")]),
        ("Alarms, by reason", None, [("max by (reason) (tender_alarms)", "{{reason}}")]),
        ("Since a round of recovery ended well", "s", [("max(tender_recovery_idle_seconds)", "idle")]),
        ("Answers that leave an operation open, a second", "cps", [
            (rate('tender_acquirer_answers_total{answer=~"unknown|pending|not_sent"}', "route, operation, answer"),
             "{{route}} {{operation}} {{answer}}")]),
    ]),
    ("providers", "Providers", [
        ("Suspended routes", None, [("max by (route) (tender_acquirer_circuit_open)", "{{route}}")]),
        ("Suspensions in an hour", None, [
            ("sum by (route) (increase(tender_acquirer_circuit_opened_total[1h]))", "{{route}}")]),
        ("Answers a second, by route and class", "cps", [
            (rate("tender_acquirer_answers_total", "route, answer"), "{{route}} {{answer}}")]),
        ("Answers that say nothing of the shopper's card", "percentunit", [
            (share('tender_acquirer_answers_total{answer=~"unknown|not_sent|configuration|retriable"}',
                   "tender_acquirer_answers_total", "route"), "{{route}}")]),
        ("Refused for our credentials, request or account, in an hour", None, [
            ('sum by (route, operation) (increase(tender_acquirer_answers_total{answer="configuration"}[1h]))', "{{route}} {{operation}}")]),
        ("Time until the answer, 95th percentile", "s", quantiles("tender_acquirer_seconds", "route, operation", which=("0.95",))),
        ("Events of providers a second, by verdict", "cps", [
            (rate("tender_provider_events_total", "route, verdict"), "{{route}} {{verdict}}")]),
    ]),
    ("webhooks", "Webhooks and mail", [
        ("Webhooks given up", None, [("max(tender_webhooks_dead)", "dead")], "number"),
        ("Webhooks that wait", None, [("max(tender_webhooks_waiting)", "waiting")], "number"),
        ("How long the oldest waits", "s", [("max(tender_webhooks_oldest_seconds)", "age")], "number"),
        ("Messages given up", None, [("max(tender_mail_dead)", "dead")], "number"),
        ("Tries to deliver a webhook, a second, by outcome", "cps", [
            (rate("tender_webhooks_tried_total", "outcome"), "{{outcome}}")]),
        ("Time of a try, 95th percentile", "s", quantiles("tender_stage_seconds", labels='{stage="deliver"}', which=("0.95",))),
        ("Backlog of webhooks", None, [("max(tender_webhooks_waiting)", "waiting"), ("max(tender_webhooks_dead)", "given up")]),
        ("Tries to deliver a message, a second, by outcome", "cps", [
            (rate("tender_mail_tried_total", "outcome"), "{{outcome}}")]),
        ("Backlog of messages", None, [("max(tender_mail_waiting)", "waiting"), ("max(tender_mail_dead)", "given up")]),
    ]),
    ("certificates", "Certificates and domains", [
        ("Until the first certificate ends", "s", [("min(tender_certificate_seconds_left)", "left")], "number"),
        ("Domains with a finding", None, [(f"count(max by (code, subject) (tender_doctor_check{{{DOMAIN}}}) == 1) or vector(0)", "findings")], "number"),
        ("Other findings of the doctor", None, [(f"count(tender_doctor_check{{{DOMAIN.replace('=~', '!~')}}} == 1) or vector(0)", "findings")], "number"),
        ("Merchants that cannot be served", None, [("count(max by (merchant) (tender_merchant_left_out)) or vector(0)", "left out")], "number"),
        ("Days until each certificate ends", "d", [
            ("min by (merchant, kind) (tender_certificate_seconds_left) / 86400", "{{merchant}} {{kind}}")]),
        ("Findings on domains", None, [(f"max by (code, subject, status) (tender_doctor_check{{{DOMAIN}}}) == 1", "{{subject}} {{code}} {{status}}")]),
        ("Merchant sessions a second, by outcome", "cps", [
            (rate("tender_merchant_sessions_total", "outcome"), "{{outcome}}")]),
        ("Signers and forms of payment tokens seen for the first time, in a day", None, [
            ("sum by (kind) (increase(tender_token_novelties_total[1d]))", "{{kind}}")]),
    ]),
    ("store", "Servers and store", [
        ("Servers that answer", None, [("sum(up)", "up")], "number"),
        ("Servers that do not", None, [("count(up == 0) or vector(0)", "down")], "number"),
        ("Environments", None, [("count by (environment) (tender_environment)", "{{environment}}")], "number"),
        ("Standbys of the database", None, [("max(tender_database_standbys)", "standbys")], "number"),
        ("Calls a second, by status", "cps", [(rate("tender_http_requests_total", "status"), "{{status}}")]),
        ("Refusals a second, by code", "cps", [(rate("tender_refusals_total", "code"), "{{code}}")]),
        ("Connections", None, [("tender_connections_open", "{{instance}}"), ("tender_connections_maximum", "{{instance}} at most")]),
        ("Connections closed for a late caller, a second", "cps", [(rate("tender_connections_late_total", "with"), "{{with}}")]),
        ("Durable commits a second", "cps", [("rate(tender_store_commits[$__rate_interval])", "{{instance}}")]),
        ("Spans for the collector of traces, a second, by outcome", "cps", [(rate("tender_spans_total", "outcome"), "{{outcome}}")]),
        ("Connections to the database", None, [
            ("tender_store_connections_in_use", "{{instance}}"), ("tender_store_connections", "{{instance}} at most")]),
        ("Trips to the database a second, and those that wait for a connection", "cps", [
            (rate("tender_store_trips_total", "instance"), "{{instance}} trips"), (rate("tender_store_waits_total", "instance"), "{{instance}} waits")]),
        ("Transactions that were run again, or are in doubt, in an hour", None, [
            ("sum by (reason) (increase(tender_store_retries_total[1h]))", "{{reason}}"),
            ("sum(increase(tender_store_commits_in_doubt_total[1h]))", "in doubt")]),
        ("How far the last standby is behind", "s", [("max(tender_database_replication_lag_seconds)", "behind")]),
        ("The log that it has not replayed", "bytes", [("max(tender_database_replication_lag_bytes)", "behind")]),
        ("The oldest transaction of the database", "s", [("max(tender_database_oldest_transaction_seconds)", "age")]),
        ("Retention: rows in an hour", None, [("max by (task) (increase(tender_retention_rows_total[1h]))", "{{task}}")]),
        ("Retention: kept beyond the limit", "s", [("max by (task) (tender_retention_behind_seconds)", "{{task}}")]),
        ("How far each clock has moved", "s", [("tender_clock_lead_seconds", "{{instance}}")]),
    ]),
]
# Grafana's colours of a single number that should be 0.
TROUBLE = {"mode": "absolute", "steps": [{"color": "green", "value": None}, {"color": "red", "value": 1}]}


def of_job(expression):
    """The expression, of the chosen job alone."""
    return re.sub(r"\b(tender_\w+|up)\b(\{)?", lambda found: found[1] + '{job="$job"' + (", " if found[2] else "}"), expression)


def panel(number, title, unit, queries, x, y, width, height, is_number):
    source = {"type": "prometheus", "uid": "${datasource}"}
    is_trouble = is_number and unit is None and re.search("given up|unknown|alarm|finding|cannot|do not", title)
    defaults = {"unit": unit or "short", "min": 0} if unit != "percentunit" else {"unit": unit, "min": 0, "max": 1}
    if "clock" in title:
        del defaults["min"]
    if is_number:
        defaults["color"] = {"mode": "thresholds"}
        defaults["thresholds"] = TROUBLE if is_trouble else {"mode": "absolute", "steps": [{"color": "text", "value": None}]}
    options = {"reduceOptions": {"calcs": ["lastNotNull"]}} if is_number else {
        "legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
    return {
        "id": number, "type": "stat" if is_number else "timeseries", "title": title, "datasource": source,
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "targets": [{"refId": chr(ord("A") + place), "datasource": source, "expr": of_job(expression), "legendFormat": legend}
                    for place, (expression, legend) in enumerate(queries)],
        "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options}


def dashboard(name, title, panels):
    """Numbers are a quarter of a row, pictures a half."""
    placed, x, y, tall = [], 0, 0, 0
    for title_of_panel, unit, queries, *kind in panels:
        width, height = (6, 4) if kind else (12, 8)
        if x + width > 24 or (tall and tall != height):
            x, y = 0, y + tall
        placed.append(panel(len(placed) + 1, title_of_panel, unit, queries, x, y, width, height, bool(kind)))
        x, tall = x + width, height
    return {
        "uid": f"tender-{name}", "title": f"Tender: {title}", "tags": ["tender"], "schemaVersion": 38, "version": 1,
        "editable": True, "refresh": "30s", "time": {"from": "now-6h", "to": "now"}, "timezone": "",
        "links": [{"type": "dashboards", "title": "Tender", "tags": ["tender"], "asDropdown": True, "includeVars": True, "keepTime": True}],
        "templating": {"list": [
            {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
            {"name": "job", "label": "Job", "type": "textbox", "query": "tender", "current": {"text": "tender", "value": "tender"}}]},
        "annotations": {"list": [{
            "name": "Alerts", "enable": True, "iconColor": "red", "datasource": {"type": "prometheus", "uid": "${datasource}"},
            "expr": 'ALERTS{job="$job", alertstate="firing"}', "titleFormat": "{{alertname}}", "step": "60s"}]},
        "panels": placed}


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: Packaging/monitoring/dashboards.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, title, panels in DASHBOARDS:
        (folder / f"tender-{name}.json").write_text(json.dumps(dashboard(name, title, panels), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
