"""The cases of the Connect conformance suite for a server of Connect by HTTP/1.1, by its names."""

import struct
from dataclasses import dataclass, field

from google.protobuf import any_pb2

SERVICE = "connectrpc.conformance.v1.ConformanceService"
LIMIT = 200 * 1024
DATA = b"test response"
SENT = [("X-Conformance-Test", "Value1"), ("X-Conformance-Test", "Value2")]
CODES = {
    1: ("canceled", 499), 2: ("unknown", 500), 3: ("invalid_argument", 400),
    4: ("deadline_exceeded", 504), 5: ("not_found", 404), 6: ("already_exists", 409),
    7: ("permission_denied", 403), 8: ("resource_exhausted", 429),
    9: ("failed_precondition", 400), 10: ("aborted", 409), 11: ("out_of_range", 400),
    12: ("unimplemented", 501), 13: ("internal", 500), 14: ("unavailable", 503),
    15: ("data_loss", 500), 16: ("unauthenticated", 401),
}

pb = None  # The messages of Protos; set by check.py.


@dataclass
class Case:
    name: str
    method: str
    codec: str
    request: object
    expected: object
    headers: list = field(default_factory=list)
    timeout_ms: int = None
    get: bool = False
    raw: tuple = None  # Verb, path, headers and body of a request by hand.


@dataclass
class Expected:
    """What must come back; None: anything."""

    status: int = None
    headers: list = field(default_factory=list)
    trailers: list = field(default_factory=list)
    data: list = field(default_factory=list)
    code: int = None
    message: str = None
    details: int = None  # Number of details; None: those of the request, and what arrived.


def any_of(message):
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


def envelope(flags, data):
    return struct.pack(">BI", flags, len(data)) + data


def is_stream(method):
    return method == "ServerStream"


# MARK: Cases


def fields(**values):
    return [pb.Header(name=name.replace("_", "-"), value=list(each)) for name, each in values.items()]


def pairs(headers):
    return [(each.name, list(each.value)) for each in headers]


def call(suite, name, codec, method, **options):
    """A case whose request says what is expected."""
    stream = is_stream(method)
    request = getattr(pb, method + "Request")()
    data, code = options.pop("data", []), options.pop("code", None)
    message, delay = options.pop("message", None), options.pop("delay", 0)
    headers, trailers = options.pop("response_headers", []), options.pop("response_trailers", [])
    details = options.pop("error_details", [])
    expected = options.pop("expected", None)
    if not options.pop("is_empty", False):
        definition = request.response_definition
        definition.SetInParent()
        definition.response_headers.extend(headers)
        definition.response_trailers.extend(trailers)
        definition.response_delay_ms = delay
        if stream:
            definition.response_data.extend(data)
        elif data:
            definition.response_data = data[0]
        if code is not None:
            definition.error.code = code
            if message is not None:
                definition.error.message = message
            definition.error.details.extend(any_of(each) for each in details)
    if expected is None:
        if not stream and code is None and not data:
            data = [b""]
        expected = Expected(
            headers=pairs(headers), trailers=pairs(trailers), data=data, code=code, message=message)
    return Case(f"{suite}/{codec}/{name}", method, codec, request, expected, **options)


METHODS = {"unary": "Unary", "server-stream": "ServerStream"}


def errors(codec):
    suite = "Errors"
    single = dict(response_headers=fields(x_custom_header=["foo"]),
                  response_trailers=fields(x_custom_trailer=["bing"]))
    for kind, method in METHODS.items():
        for code, (name, _) in CODES.items():
            yield call(suite, f"{kind}/{name}", codec, method, code=code, message=name.replace("_", " "))
        yield call(suite, f"{kind}/error-with-metadata", codec, method, code=16,
                   message="unauthenticated", **single)
    yield call(suite, "unary/unicode-error-message", codec, "Unary", code=13,
               message="\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\n")
    yield call(suite, "server-stream/error-with-responses", codec, "ServerStream", code=13,
               message="server stream failed", data=[DATA, DATA], headers=SENT, **single)
    yield call(suite, "server-stream/error-with-no-responses", codec, "ServerStream", code=13,
               message="server stream failed", headers=SENT, **single)


def code_mapping(codec):
    suite = "Connect to HTTP Code Mapping"
    for code, (name, status) in CODES.items():
        case = call(suite, f"unary/{name}", codec, "Unary", code=code)
        case.expected.status = status
        yield case
    case = call(suite, "server-stream/error-returns-success-http-code", codec, "ServerStream", code=5)
    case.expected.status = 200
    yield case


def duplicate_metadata(codec):
    suite = "Duplicate Metadata"
    several = dict(response_headers=fields(x_custom_header=["foo", "bar", "baz"]),
                   response_trailers=fields(x_custom_trailer=["bing", "quux"]))
    yield call(suite, "unary/success", codec, "Unary", data=[DATA], headers=SENT, **several)
    yield call(suite, "unary/error", codec, "Unary", code=13, message="unary failed", headers=SENT,
               **several)
    yield call(suite, "server-stream/success", codec, "ServerStream", data=[DATA, DATA],
               headers=SENT, **several)
    yield call(suite, "server-stream/no-response", codec, "ServerStream", **several)
    for name, data in (("error-with-responses", [DATA, DATA]), ("error-with-no-responses", [])):
        yield call(suite, f"server-stream/{name}", codec, "ServerStream", code=13, data=data,
                   message="server stream failed", headers=SENT, **several)


def basic(codec):
    suite = "Basic"
    single = dict(response_headers=fields(x_custom_header=["foo"]),
                  response_trailers=fields(x_custom_trailer=["bing"]))
    yield call(suite, "unary/success", codec, "Unary", data=[DATA], headers=SENT, **single)
    yield call(suite, "server-stream/success", codec, "ServerStream", data=[DATA, DATA],
               headers=SENT, **single)
    yield call(suite, "server-stream/no-responses", codec, "ServerStream", headers=SENT, **single)
    yield call(suite, "unimplemented", codec, "Unimplemented", is_empty=True,
               expected=Expected(code=12, details=0))


def get(codec):
    yield call("Connect GET", "success", codec, "IdempotentUnary", data=[DATA], headers=SENT, get=True,
               response_headers=fields(x_custom_header=["foo"]),
               response_trailers=fields(x_custom_trailer=["bing"]))


def deadlines(codec):
    suite = "Deadline Propagation"
    yield call(suite, "unary/success", codec, "Unary", data=[DATA], timeout_ms=20000)
    yield call(suite, "server-stream/success", codec, "ServerStream", data=[DATA, DATA],
               timeout_ms=20000)


def timeouts(codec):
    for name, method in METHODS.items():
        yield call("Timeouts", name, codec, method, data=[DATA], delay=1500, timeout_ms=200,
                   expected=Expected(code=4, details=0))


def empty():
    yield call("Server Empty Requests", "unary/empty-request", "proto", "Unary", is_empty=True,
               headers=SENT, expected=Expected(data=[b""]))
    yield call("Server Empty Requests", "server-stream/empty-request", "proto", "ServerStream",
               is_empty=True, headers=SENT, expected=Expected())


def sizes():
    for kind, method in METHODS.items():
        for name, more in (("equal-to", 0), ("exceeds", 10)):
            expected = Expected(code=8, details=0) if more else None
            count = 2 if is_stream(method) else 1
            case = call("Server Message Size", f"{kind}/request-{name}-server-limit", "proto", method,
                        data=[DATA] * count, expected=expected)
            case.request.request_data = bytes(LIMIT)
            excess = case.request.ByteSize() - LIMIT - more
            case.request.request_data = bytes(LIMIT - excess)
            assert case.request.ByteSize() == LIMIT + more
            yield case


def unexpected():
    def by_hand(name, verb, path, content_type, body, expected, method="Unary", **headers):
        sent = [("Content-Type", content_type)]
        sent += [(key.replace("_", "-"), value) for key, value in headers.items()]
        request = getattr(pb, method + "Request")()
        return Case(f"Connect Unexpected Requests/proto/{name}", method, "proto", request, expected,
                    raw=(verb, path, sent, body))

    unary, stream = f"/{SERVICE}/Unary", f"/{SERVICE}/ServerStream"
    proto, connect = "application/proto", "application/connect+proto"
    unimplemented = Expected(code=12, details=0)
    yield by_hand("unexpected-content-type", "POST", unary, "image/jpeg", b"\1\2\3",
                  Expected(status=415, code=2, details=0))
    yield by_hand("server-stream/no-request", "POST", stream, connect, b"", unimplemented,
                  "ServerStream")
    yield by_hand("server-stream/multiple-requests", "POST", stream, connect, envelope(0, b"") * 2,
                  unimplemented, "ServerStream")
    yield by_hand("unexpected-verb", "DELETE", unary, proto, b"",
                  Expected(status=405, code=2, details=0))
    yield by_hand("unexpected-uri", "POST", "/connectrpc.conformance.v1.UnknownService/UnknownMethod",
                  proto, b"", Expected(status=404, code=12, details=0))
    yield by_hand("unexpected-codec", "POST", unary, "application/foo", b"",
                  Expected(status=415, code=2, details=0))
    yield by_hand("unexpected-compression", "POST", unary, proto, b"", unimplemented,
                  content_encoding="foo")
    yield by_hand("unexpected-compressed-message", "POST", stream, connect, envelope(1, b""),
                  Expected(code=13, details=0), "ServerStream", connect_content_encoding="identity")


def more(codec):
    """What the suite does not try, and the service can do."""
    yield call("Details", "unary/two-details", codec, "Unary", code=9, message="with details",
               error_details=[pb.Header(name="a", value=["b"]), pb.Error(code=5, message="c")])
    yield call("Details", "server-stream/a-detail", codec, "ServerStream", code=9,
               error_details=[pb.Header(name="a", value=["b"])])


def all_cases():
    for codec in ("proto", "json"):
        for suite in (errors, code_mapping, duplicate_metadata, basic, get, deadlines, timeouts):
            yield from suite(codec)
    for suite in (empty, sizes, unexpected):
        yield from suite()
