#!/usr/bin/python3
"""Tests a Connect conformance server: Connect by HTTP/1.1, unary and server streams, JSON and proto, GET, a
limit of messages, without TLS and compression.

The cases are those that the suite of https://github.com/connectrpc/conformance has for such a server, by
its names and its documentation. They are written again here, as that suite needs a newer Go than Debian's
and packages that Debian lacks. What counts as a failure is what counts there.

Usage: check.py SERVER [--case TEXT]

SERVER       the program to test: reads a ServerCompatRequest from stdin, and writes a ServerCompatResponse
--case TEXT  only the cases whose names contain the text

Prints a line for each case that failed, with what differs, and "N passed, N failed". Needs Debian's
python3-protobuf and protobuf-compiler. Exit codes: 0 all passed, 1 some failed, 64 usage.
"""

import base64
import http.client
import json
import signal
import struct
import subprocess
import sys
import tempfile
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf import json_format

# The import of the cases would leave a folder in the sources.
sys.dont_write_bytecode = True
import cases
from cases import CODES, LIMIT, SERVICE, envelope, is_stream

pb = None  # The messages of Protos; set in main.
# A late start of the service may take from a timeout. The suite gives less time, which a slow machine
# may use up.
TIMEOUT_GRACE_MS = 10000


# MARK: Calls


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: list = field(default_factory=list)
    trailers: list = field(default_factory=list)
    messages: list = field(default_factory=list)
    error: dict = None
    body: bytes = b""


def encoded(message, codec):
    if codec == "proto":
        return message.SerializeToString()
    return json_format.MessageToJson(message, indent=None).encode()


def decoded(data, kind, codec):
    if codec == "proto":
        return kind.FromString(data)
    return json_format.Parse(data, kind())


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"an object has a name twice: {names}")
    return dict(pairs)


def strict(text):
    return json.loads(text, object_pairs_hook=no_duplicates)


def http_request(case):
    """Verb, target, header fields and body."""
    if case.raw:
        return case.raw
    headers = [("Connect-Protocol-Version", "1")] + case.headers
    if case.timeout_ms is not None:
        headers.append(("Connect-Timeout-Ms", str(case.timeout_ms)))
    path = f"/{SERVICE}/{case.method}"
    data = encoded(case.request, case.codec)
    if case.get:
        query = {"connect": "v1", "encoding": case.codec}
        if case.codec == "proto":
            query |= {"base64": "1", "message": base64.urlsafe_b64encode(data).decode().rstrip("=")}
        else:
            query["message"] = data.decode()
        return "GET", f"{path}?{urllib.parse.urlencode(query)}", headers[1:], None
    if is_stream(case.method):
        headers.append(("Content-Type", f"application/connect+{case.codec}"))
        return "POST", path, headers, envelope(0, data)
    headers.append(("Content-Type", f"application/{case.codec}"))
    return "POST", path, headers, data


def send(case, port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    verb, target, headers, body = http_request(case)
    connection.putrequest(verb, target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    answer = Answer(response.status, response.getheaders(), body=response.read())
    connection.close()
    read_answer(case, answer)
    return answer


def read_answer(case, answer):
    kind = getattr(pb, case.method + "Response", None)
    content_type = dict((name.lower(), value) for name, value in answer.headers).get("content-type", "")
    if content_type.startswith("application/connect+"):
        if answer.status != 200:
            raise ValueError(f"a stream has the status {answer.status}")
        read_stream(case, answer, kind)
        return
    answer.trailers = [
        (name[len("trailer-"):], value) for name, value in answer.headers
        if name.lower().startswith("trailer-")
    ]
    if answer.status == 200:
        if content_type != f"application/{case.codec}":
            raise ValueError(f"the content type is {content_type}")
        answer.messages.append(decoded(answer.body, kind, case.codec))
    elif content_type == "application/json":
        answer.error = strict(answer.body)
    else:
        # Not of the protocol: clients take the code from the status.
        mapped = {400: "internal", 401: "unauthenticated", 403: "permission_denied",
                  404: "unimplemented", 429: "unavailable", 502: "unavailable",
                  503: "unavailable", 504: "unavailable"}
        answer.error = {"code": mapped.get(answer.status, "unknown")}


def read_stream(case, answer, kind):
    rest, ended = answer.body, False
    while rest:
        flags, length = struct.unpack(">BI", rest[:5])
        data, rest = rest[5:5 + length], rest[5 + length:]
        if len(data) != length or ended or flags not in (0, 2):
            raise ValueError("the body is not a sequence of messages with one end")
        if flags == 0:
            answer.messages.append(decoded(data, kind, case.codec))
            continue
        ended = True
        end = strict(data)
        if set(end) - {"error", "metadata"}:
            raise ValueError(f"the end of the stream has {sorted(end)}")
        answer.error = end.get("error")
        for name, values in end.get("metadata", {}).items():
            answer.trailers += [(name, value) for value in values]
    if not ended:
        raise ValueError("the stream has no end")


# MARK: Comparison


def values_of(fields, name):
    joined = [value for other, value in fields if other.lower() == name.lower()]
    return [part.strip() for value in joined for part in value.split(",")]


def compare_fields(what, expected, fields):
    for name, values in expected:
        found = values_of(fields, name)
        if found != values:
            yield f"{what} {name}: expected {values}, got {found}"


def compare_information(case, information):
    headers = [(each.name, value) for each in information.request_headers for value in each.value]
    sent = {}
    for name, value in case.headers:
        sent.setdefault(name, []).append(value)
    yield from compare_fields("request header", sent.items(), headers)
    if case.timeout_ms is None:
        if information.HasField("timeout_ms"):
            yield f"a timeout of {information.timeout_ms} ms arrived, and none was sent"
    elif not case.timeout_ms - TIMEOUT_GRACE_MS <= information.timeout_ms <= case.timeout_ms:
        yield f"a timeout of {information.timeout_ms} ms arrived, {case.timeout_ms} was sent"
    survivors = []
    for packed in information.requests:
        survivors.append(type(case.request)())
        packed.Unpack(survivors[-1])
    sent = case.request.SerializeToString(deterministic=True)
    if [each.SerializeToString(deterministic=True) for each in survivors] != [sent]:
        yield f"the request did not survive: {survivors}"
    if case.get != information.HasField("connect_get_info"):
        yield f"the server saw {'POST' if case.get else 'GET'}"
    if case.get:
        found = {each.name: list(each.value) for each in information.connect_get_info.query_params}
        target = http_request(case)[1]
        wanted = urllib.parse.parse_qs(target.split("?", 1)[1])
        if found != wanted:
            yield f"query: expected {wanted}, got {found}"


def compare_error(case, expected, error):
    if set(error) - {"code", "message", "details"}:
        yield f"the error has {sorted(error)}"
    if error.get("code") != CODES[expected.code][0]:
        yield f"code: expected {CODES[expected.code][0]}, got {error.get('code')}"
    if expected.message is not None and error.get("message", "") != expected.message:
        yield f"message: expected {expected.message!r}, got {error.get('message', '')!r}"
    found = error.get("details", [])
    for detail in found:
        if set(detail) - {"type", "value", "debug"} or "=" in detail["value"]:
            yield f"a detail has another form: {detail}"
    if expected.details is not None:
        if len(found) != expected.details:
            yield f"expected {expected.details} details, got {found}"
        return
    wanted = list(case.request.response_definition.error.details)
    information = "connectrpc.conformance.v1.ConformancePayload.RequestInfo"
    types = [each.TypeName() for each in wanted]
    if not expected.data:
        types.append(information)
    if [detail["type"] for detail in found] != types:
        yield f"details: expected {types}, got {[detail['type'] for detail in found]}"
        return
    for detail, each in zip(found, wanted):
        if base64.b64decode(detail["value"] + "==") != each.value:
            yield f"the detail {detail['type']} is another one"
    if not expected.data:
        value = base64.b64decode(found[-1]["value"] + "==")
        yield from compare_information(case, pb.ConformancePayload.RequestInfo.FromString(value))


def compare(case, answer):
    """Each difference as a line of text."""
    expected = case.expected
    if expected.status is not None and answer.status != expected.status:
        yield f"HTTP status: expected {expected.status}, got {answer.status}"
    yield from compare_fields("header", expected.headers, answer.headers)
    yield from compare_fields("trailer", expected.trailers, answer.trailers)
    if any(name.lower() == "trailer" for name, _ in answer.headers):
        yield "the response has HTTP trailers"
    if [message.payload.data for message in answer.messages] != expected.data:
        yield f"data: expected {expected.data}, got {answer.messages}"
    for index, message in enumerate(answer.messages):
        if index == 0:
            yield from compare_information(case, message.payload.request_info)
        elif message.payload.HasField("request_info"):
            yield f"message {index} tells of the request again"
    if expected.code is None:
        if answer.error is not None:
            yield f"an error: {answer.error}"
    elif answer.error is None:
        yield f"no error; expected {CODES[expected.code][0]}"
    else:
        yield from compare_error(case, expected, answer.error)


# MARK: The server


class Server:
    """The program under test, used as the suite does: stdin is closed at once, and SIGINT ends it."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        request = pb.ServerCompatRequest(protocol=1, http_version=1, message_receive_limit=LIMIT)
        data = request.SerializeToString()
        self.process.stdin.write(struct.pack(">I", len(data)) + data)
        self.process.stdin.close()
        length, = struct.unpack(">I", self.process.stdout.read(4))
        self.port = pb.ServerCompatResponse.FromString(self.process.stdout.read(length)).port

    def stop(self):
        """Returns what is wrong with its end."""
        self.process.send_signal(signal.SIGINT)
        rest = self.process.stdout.read()
        status = self.process.wait(timeout=20)
        return f"exit code {status}, {len(rest)} bytes more on stdout" if status or rest else None


def read_protos():
    """Makes the module of the messages."""
    global pb
    protos = Path(__file__).resolve().parent / "Protos"
    file = "connectrpc/conformance/v1/conformance.proto"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", f"--proto_path={protos}", f"--python_out={folder}", file], check=True)
        sys.path.insert(0, folder)
        from connectrpc.conformance.v1 import conformance_pb2

    pb = cases.pb = conformance_pb2


def run(case, server):
    """The differences."""
    try:
        return list(compare(case, send(case, server.port)))
    except (ValueError, OSError, http.client.HTTPException, struct.error,
            json_format.ParseError) as error:
        return [f"{type(error).__name__}: {error}"]


def main(arguments):
    if len(arguments) not in (1, 3) or len(arguments) == 3 and arguments[1] != "--case":
        print(__doc__.strip(), file=sys.stderr)
        return 64
    read_protos()
    wanted = arguments[2] if len(arguments) == 3 else ""
    suite = list(cases.all_cases())
    assert len(suite) == 152, f"the suite has 152 cases, and not {len(suite)}"
    chosen = [
        case for case in suite + [*cases.more("proto"), *cases.more("json")] if wanted in case.name]
    server = Server(arguments[0])
    failed = 0
    try:
        for case in chosen:
            if differences := run(case, server):
                failed += 1
                print(f"{case.name}: {'; '.join(differences)}")
    finally:
        problem = server.stop()
    if problem:
        failed += 1
        print(f"the server did not end well: {problem}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
