"""Reads a request to a collector of OpenTelemetry (OTLP/HTTP, JSON) with Python's opentelemetry-proto.

Usage: parse.py < DOCUMENT

Prints a line for each span, as JSON. Fails for a document that is not valid. What OTLP demands beside
protobuf's own JSON is checked here: hexadecimal ids, 64-bit numbers as text, enumerations as numbers.
"""

import base64
import json
import re
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
LARGE = {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue"}
ENUMERATIONS = {"kind", "code"}


def with_base64(value):
    """The document as protobuf's JSON: ids are base64 there."""
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {}
    for name, member in value.items():
        if name in IDS:
            if not re.fullmatch(f"[0-9a-f]{{{IDS[name]}}}", member):
                raise ValueError(f"{name}: {member}")
            member = base64.b64encode(bytes.fromhex(member)).decode()
        elif name in LARGE and not isinstance(member, str):
            raise ValueError(f"{name} is not text")
        elif name in ENUMERATIONS and not isinstance(member, int):
            raise ValueError(f"{name} is not a number")
        members[name] = with_base64(member)
    return members


def attributes(pairs):
    values = {}
    for pair in pairs:
        if pair.key in values:
            raise ValueError(f"{pair.key} is there twice")
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        if kind == "array_value":
            value = [getattr(item, item.WhichOneof("value")) for item in value.values]
        values[pair.key] = f"{kind}:{value}"
    return values


def main():
    document = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    request = trace_service_pb2.ExportTraceServiceRequest()
    json_format.ParseDict(with_base64(document), request)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                print(json.dumps({
                    "resource": attributes(resource.resource.attributes),
                    "trace": span.trace_id.hex(), "span": span.span_id.hex(),
                    "parent": span.parent_span_id.hex(), "state": span.trace_state,
                    "flags": span.flags, "name": span.name, "kind": span.kind,
                    "start": span.start_time_unix_nano, "end": span.end_time_unix_nano,
                    "attributes": attributes(span.attributes),
                    "dropped": span.dropped_attributes_count,
                    "events": [event.name for event in span.events],
                    "status": span.status.code}))


if __name__ == "__main__":
    main()
