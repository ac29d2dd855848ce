"""Calls every method of Protos by HTTP, with `buf curl` and with the generated Python client, and runs the
samples of the documentation.

Usage: check.py PROGRAMS WORK BUF

PROGRAMS  the folder of entitled, entitlectl and storesim
WORK      a folder with protos.json and protos.binpb, the descriptors of Protos; gets the server's files
BUF       the program buf

deploy/test-http-clients runs it, with the generated client in PYTHONPATH. Prints a line for each call that
went wrong, and a last line with counts. Exit codes: 0 all as expected, 1 not.
"""

import base64
import http.client
import importlib
import json
import re
import subprocess
import sys
import threading
import time
from itertools import chain
from pathlib import Path

import jsonschema
import yaml
from connectrpc.codec import proto_binary_codec, proto_json_codec
from connectrpc.errors import ConnectError
from pyqwest import SyncClient, SyncHTTPTransport

import samples
from requests import REQUESTS

PATIENCE = 60


class Wrong(Exception):
    """A call had another outcome than expected."""


# MARK: The server


class Server:
    """An entitled of its own, with a dozen simulated customers."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        authority, catalog = folder / "authority", folder / "catalog.yaml"
        fingerprints = self.run("storesim", "authority", "--directory", authority).split()
        catalog.write_text(self.run("storesim", "catalog").replace(
            "    environments:", "    archived_responses: accept\n    environments:"))
        self.token, credentials = folder / "token", folder / "credentials.yaml"
        lines = self.run("entitlectl", "token", "create", "--name", "client", "--role", "admin",
                         "--out", self.token, stream="stderr")
        credentials.touch(mode=0o600)
        credentials.write_text("version: 1\ncallers:\n" + lines)
        self.tls = folder / "tls"
        subprocess.run(
            [Path(__file__).resolve().parents[2] / "deploy/make-certificates", self.tls],
            capture_output=True, check=True)
        # In production the roots have to be named for it.
        trust = [word for root in fingerprints for word in ("--trust-root", root)]
        self.log = (folder / "entitled.log").open("w+")
        self.process = subprocess.Popen(
            [programs / "entitled", "--listen", "127.0.0.1:0", "--listen", "tls:127.0.0.1:0",
             "--http-listen", "127.0.0.1:0", "--catalog", catalog,
             "--store", f"sqlite:{folder}/store.sqlite", "--create", "--credentials", credentials,
             "--tls-certificate", self.tls / "server.pem", "--tls-key", self.tls / "server.key", *trust],
            stdout=self.log, stderr=subprocess.STDOUT)
        self.frames, self.frames_by_tls, self.http = self.wait_for_addresses()

    def run(self, program, *arguments, stream="stdout"):
        outcome = subprocess.run(
            [self.programs / program, *arguments], capture_output=True, text=True, check=False)
        if outcome.returncode != 0:
            raise Wrong(f"{program} {arguments[0]} failed: {outcome.stderr}")
        return getattr(outcome, stream)

    def wait_for_addresses(self):
        """The server logs what it listens on, in the order of its flags."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            text = (self.folder / "entitled.log").read_text()
            found = re.findall(r"127\.0\.0\.1:\d+", "\n".join(
                line for line in text.splitlines() if "listening" in line))
            if len(found) == 3:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise Wrong(f"entitled did not start:\n{(self.folder / 'entitled.log').read_text()}")

    def submit_customers(self):
        self.run("storesim", "submit", "--authority", self.folder / "authority", "--server",
                 self.frames, "--token-file", self.token)

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=PATIENCE) != 0:
            raise Wrong(f"entitled ended with exit code {self.process.returncode}")


def payloads(server):
    """The values in the braces of requests."""
    authority = ("--authority", server.folder / "authority")

    def signed(kind, seed):
        lines = server.run("storesim", "sign", *authority, "--life-cycle", "first-purchase", "--seed",
                           str(seed), "--include", "all", "--format", "jsonl").splitlines()
        return next(each["signedPayload"] for each in map(json.loads, lines) if each["kind"] == kind)

    transaction = signed("transaction", 901)
    body = transaction.split(".")[1]
    content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    receipt = server.run("storesim", "receipt", *authority, "--life-cycle", "non-consumable", "--seed", "903")
    archive = server.run("storesim", "receipt", "--archive", "--life-cycle", "non-consumable", "--seed", "904")
    return {
        "{transaction}": transaction,
        "{notification}": signed("notification", 902),
        "{purchase}": content["originalTransactionId"],
        "{receipt}": receipt.strip(),
        "{archive}": base64.b64encode(archive.encode()).decode(),
    }


def filled(value, values):
    if isinstance(value, dict):
        return {name: filled(part, values) for name, part in value.items()}
    if isinstance(value, list):
        return [filled(part, values) for part in value]
    return values.get(value, value) if isinstance(value, str) else value


# MARK: Methods


class Method:
    def __init__(self, package, service, descriptor, file):
        self.service, self.name = service, descriptor["name"]
        self.path = f"{package}.{service}/{self.name}"
        self.is_stream = descriptor.get("serverStreaming", False)
        level = descriptor.get("options", {}).get("idempotencyLevel")
        self.is_read = level == "NO_SIDE_EFFECTS" and not self.is_stream
        self.module = file.removesuffix(".proto").replace("/", ".") + "_connect"

    @property
    def is_open(self):
        """Whether it needs no token."""
        return self.path.startswith("grpc.health.")


def all_methods(descriptors):
    return [
        Method(file["package"], service["name"], method, file["name"])
        for file in descriptors["file"]
        for service in file.get("service", [])
        for method in service["method"]
    ]


# MARK: Clients


class BufCurl:
    """`buf curl`, which is connect-go."""

    name = "buf curl"
    can_have_deadlines = False

    def __init__(self, buf, work, server):
        self.buf, self.schema, self.url = buf, work / "protos.binpb", f"http://{server.http}"
        self.work = work

    def can(self, method):
        return True

    def call(self, method, request, token):
        """The first answer as JSON. Raises Refused."""
        # The token is not in an argument, which other users of the machine could read.
        headers = self.work / "headers"
        headers.touch(mode=0o600)
        headers.write_text(f"authorization: Bearer {token}\n" if token else "")
        data = self.work / "request.json"
        data.write_text(json.dumps(request))
        process = subprocess.Popen(
            [self.buf, "curl", "--schema", self.schema, "--header", f"@{headers}", "--data", f"@{data}",
             f"{self.url}/{method.path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # A method that answers nothing must not keep the check waiting.
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        text = ""
        for line in process.stdout:
            text += line
            # The end of a message, which is printed on several lines. Watches do not end.
            if line in ("}\n", "{}\n"):
                break
        patience.cancel()
        if method.is_stream and text:
            process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
        if not text:
            raise Refused(json.loads(errors)["code"] if errors.startswith("{") else errors)
        return json.loads(text)


class Refused(Exception):
    """A call failed with a code."""


class Python:
    """The client of PyPI's connectrpc, with code that protoc-gen-connectrpc generated."""

    def __init__(self, server, codec, use_get=False):
        self.url, self.codec, self.use_get = f"http://{server.http}", codec, use_get
        self.can_have_deadlines = not use_get
        self.name = f"Python, {codec.name()}{', GET' if use_get else ''}"

    def can(self, method):
        return method.is_read or not self.use_get

    def call(self, method, request, token, timeout_ms=None):
        module = importlib.import_module(method.module)
        kind = getattr(module, f"{method.service}ClientSync")
        # A connection of its own: one with many refused calls is closed. The server takes no compressed
        # requests.
        with SyncHTTPTransport() as transport, kind(
                self.url, codec=self.codec, send_compression=None,
                http_client=SyncClient(transport)) as client:
            name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", method.name).lower()
            options = {"use_get": True} if self.use_get else {}
            if token:
                options["headers"] = {"authorization": f"Bearer {token}"}
            message = self.request_class(module, method).from_json(json.dumps(request))
            try:
                answer = getattr(client, name)(message, timeout_ms=timeout_ms, **options)
                if method.is_stream:
                    first = next(iter(answer))
                    if timeout_ms:
                        for _ in answer:
                            pass
                    answer = first
            except ConnectError as error:
                raise Refused(error.code.value) from error
            return json.loads(answer.to_json())

    @staticmethod
    def request_class(module, method):
        descriptor = next(
            each for each in getattr(module, method.service).desc().methods if each.name == method.name)
        return getattr(module, descriptor.input.name)


class PlainJSON:
    """HTTP without a client of the protocol, as deploy/docs/openapi.yaml describes it."""

    name = "OpenAPI"
    can_have_deadlines = False

    def __init__(self, server):
        self.server = server.http
        text = (Path(__file__).resolve().parents[2] / "deploy/docs/openapi.yaml").read_text()
        self.document = yaml.load(text, Loader=yaml.CSafeLoader)
        # Answers may get more members in later versions; in this one they must be described.
        for schema in self.document["components"]["schemas"].values():
            if schema["type"] == "object":
                schema["additionalProperties"] = False

    def can(self, method):
        return not method.is_stream

    def check(self, what, value, content):
        schema = {**content["application/json"]["schema"], "components": self.document["components"]}
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(value), key=str)
        if errors:
            raise Wrong(f"the {what} is not as described: {errors[0].json_path}: {errors[0].message[:300]}")

    def call(self, method, request, token):
        operation = self.document["paths"][f"/{method.path}"]["post"]
        if ("get" in self.document["paths"][f"/{method.path}"]) != method.is_read:
            raise Wrong("GET is described wrongly")
        self.check("request", request, operation["requestBody"]["content"])
        connection = http.client.HTTPConnection(self.server, timeout=PATIENCE)
        headers = {"content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        connection.request("POST", f"/{method.path}", json.dumps(request), headers)
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        if response.status == 200:
            self.check("answer", answer, operation["responses"]["200"]["content"])
            return answer
        self.check("error", answer, self.document["components"]["responses"]["Error"]["content"])
        raise Refused(answer["code"])


# MARK: Checks


def check_call(client, method, expect, request, token):
    try:
        answer = client.call(method, request, token)
    except Refused as error:
        if str(error) not in expect.codes:
            raise Wrong(f"failed with {error}") from error
        return
    if None not in expect.codes:
        raise Wrong(f"succeeded; expected {expect.codes}")
    missing = [name for name in expect.members if name not in answer]
    if missing:
        raise Wrong(f"the answer lacks {missing}: {str(answer)[:300]}")


def check_refused(client, method, request, token, code, **options):
    try:
        answer = client.call(method, request, token, **options)
    except Refused as error:
        if str(error) != code:
            raise Wrong(f"failed with {error}; expected {code}") from error
        return
    raise Wrong(f"succeeded; expected {code}: {str(answer)[:300]}")


def checks(clients, methods, requests, token):
    """Each call as a name and a function that raises Wrong."""
    wrong = token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")
    named = {method.path: method for method in methods}
    for client in clients:
        for path, expect in requests.items():
            method = named[path]
            if client.can(method):
                yield f"{client.name}: {path}", lambda: check_call(
                    client, method, expect, expect.request, token)
        for method in methods:
            if client.can(method) and not method.is_open:
                yield f"{client.name}: {method.path} without a token", lambda: check_refused(
                    client, method, requests[method.path].request, None, "unauthenticated")
        state = named["entitle.v1.EntitlementService/GetCustomerState"]
        watch = named["entitle.v1.EntitlementService/WatchCustomerStates"]
        for method in (state, watch):
            if client.can(method):
                yield f"{client.name}: {method.path} with a wrong token", lambda: check_refused(
                    client, method, requests[method.path].request, wrong, "unauthenticated")
        if client.can_have_deadlines:
            yield f"{client.name}: a watch with a deadline", lambda: check_refused(
                client, watch, {}, token, "deadline_exceeded", timeout_ms=300)


def main(arguments):
    programs, work, buf = map(Path, arguments)
    methods = all_methods(json.loads((work / "protos.json").read_text()))
    paths = {method.path for method in methods}
    if paths != set(REQUESTS):
        print(f"Tests/HTTPClients/requests.py and Protos differ in {sorted(paths ^ set(REQUESTS))}")
        return 1
    folder = work / "server"
    folder.mkdir(mode=0o700)
    server = Server(programs, folder)
    failed = calls = 0
    try:
        server.submit_customers()
        values = payloads(server)
        for expect in REQUESTS.values():
            expect.request = filled(expect.request, values)
        clients = [
            BufCurl(buf, work, server), Python(server, proto_binary_codec()),
            Python(server, proto_json_codec()), Python(server, proto_binary_codec(), use_get=True),
            Python(server, proto_json_codec(), use_get=True), PlainJSON(server),
        ]
        documented = samples.checks(server, json.loads((work / "protos.json").read_text()), work)
        for name, check in chain(
                checks(clients, methods, REQUESTS, server.token.read_text().strip()), documented):
            calls += 1
            try:
                check()
            except Exception as error:  # Of a client too: nothing that it raises is expected.
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}")
    finally:
        server.stop()
    if failed:
        print((folder / "entitled.log").read_text()[-3000:], file=sys.stderr)
    print(f"HTTP clients: {len(methods)} methods, {calls - failed} calls and samples as expected, {failed} not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
