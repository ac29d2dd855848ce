"""The samples of deploy/docs that call a server: each is run as it is printed, or compared with the
descriptors of Protos where its language is not at hand.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "deploy/docs"
PATIENCE = 60
# A customer of the simulated population, in Sandbox, who has the entitlement `pro`.
CUSTOMER = "customer-001"


class Wrong(Exception):
    """A sample is not right."""


def blocks(file, language):
    """The blocks of code of a document in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / file).read_text(), re.MULTILINE | re.DOTALL)


def only(found, what):
    if len(found) != 1:
        raise Wrong(f"{len(found)} of {what}, instead of one")
    return found[0]


# MARK: Python


def run(work, name, program, *arguments, **environment):
    """What a program prints."""
    file = work / name
    file.write_text(program)
    outcome = subprocess.run(
        [sys.executable, file, *map(str, arguments)], capture_output=True, text=True, check=False,
        timeout=PATIENCE, env={**os.environ, **environment})
    if outcome.returncode != 0:
        raise Wrong(f"exit code {outcome.returncode}: {outcome.stderr[-500:]}")
    return outcome.stdout


def check_printed(printed, expected):
    if printed != expected:
        raise Wrong(f"printed {printed!r}, not {expected!r}")


def check_protocol(server, work, customer):
    program = only(blocks("protocol.md", "python"), "the programs of protocol.md")
    program = in_place(program, "customer-001", customer)
    check_printed(
        run(work, "protocol-sample.py", program, server.frames_by_tls, server.tls / "ca.pem", server.token),
        "serving\ngranted\n")


def check_python(server, work, customer):
    program = only(blocks("http.md", "python"), "the programs in Python of http.md")
    program = in_place(program, "STORE_ENVIRONMENT_PRODUCTION", "STORE_ENVIRONMENT_SANDBOX")
    program = in_place(program, "customer-001", customer)
    printed = run(
        work, "http-sample.py", program, f"http://{server.http}", server.token,
        PYTHONPATH=str(work / "generated"))
    check_printed(printed, "['basic', 'pro']\n")


def in_place(text, old, new):
    """The customers of the test are other ones than those of the sample."""
    if old not in text:
        raise Wrong(f"no {old} in the sample")
    return text.replace(old, new)


# MARK: TypeScript


def camel(name):
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


class Descriptors:
    """What protoc-gen-es makes of the descriptors: names in lowerCamelCase, a oneof as `case` and `value`, values
    of enumerations without their prefix."""

    def __init__(self, document):
        self.messages, self.enums, self.services, self.files = {}, {}, {}, {}
        for file in document["file"]:
            package = file["package"]
            for kind, known in (("messageType", self.messages), ("enumType", self.enums),
                                ("service", self.services)):
                for entry in file.get(kind, []):
                    known[f"{package}.{entry['name']}"] = entry
                    self.files[entry["name"]] = file["name"].removesuffix(".proto") + "_pb.js"

    def check(self, value, name):
        """Raises Wrong unless a value is one that the message of this name is made from."""
        message = self.messages[name.removeprefix(".")]
        oneofs = {camel(each["name"]): index for index, each in enumerate(message.get("oneofDecl", []))}
        named = {camel(each["name"]): each for each in message["field"]}
        for key, part in value.items():
            if key in oneofs:
                if set(part) != {"case", "value"} or part["case"] not in named:
                    raise Wrong(f"{name}.{key} is a oneof: case and value")
                field, part = named[part["case"]], part["value"]
                if field.get("oneofIndex") != oneofs[key]:
                    raise Wrong(f"{name}.{key} has no {field['name']}")
            elif key not in named or "oneofIndex" in named[key] and not named[key].get("proto3Optional"):
                raise Wrong(f"{name} has no {key}")
            else:
                field = named[key]
            self.check_field(part, field, f"{name}.{key}")

    def type_of(self, name, field, oneof):
        """The name of the type of a field, which is in this oneof, or in none."""
        message = self.messages[name.removeprefix(".")]
        for each in message["field"]:
            index = None if each.get("proto3Optional") else each.get("oneofIndex")
            place = None if index is None else camel(message["oneofDecl"][index]["name"])
            if camel(each["name"]) == field and place == oneof:
                return each.get("typeName")
        raise Wrong(f"{name} has no {field} in {oneof or 'no oneof'}")

    def check_field(self, value, field, place):
        kind = field["type"]
        if kind == "TYPE_MESSAGE":
            self.check(value, field["typeName"])
        elif kind == "TYPE_ENUM":
            type_name = field["typeName"].rsplit(".", 1)[1]
            prefix = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type_name).upper() + "_"
            names = [f"{type_name}.{each['name'].removeprefix(prefix)}"
                     for each in self.enums[field["typeName"].removeprefix(".")]["value"]]
            if value not in names:
                raise Wrong(f"{place}: {value} is none of {names}")
        elif not isinstance(value, str if kind == "TYPE_STRING" else int):
            raise Wrong(f"{place}: {value!r} is no {kind}")


def check_typescript(document):
    descriptors = Descriptors(document)
    program = only(blocks("http.md", "ts"), "the programs in TypeScript of http.md")
    for names, file in re.findall(r'import \{ (.*?) \} from "\./gen/(.*?)";', program):
        for name in names.split(", "):
            if descriptors.files.get(name) != file:
                raise Wrong(f"{name} is not in {file}")
    service = only(re.findall(r"createClient\((\w+), ", program), "createClient")
    if f"import {{ {service} }}" not in program:
        raise Wrong(f"{service} is not imported")
    method, literal = only(
        re.findall(r"client\.(\w+)\((\{.*?\n\})\)", program, re.DOTALL), "calls of the client")
    methods = {each["name"][0].lower() + each["name"][1:]: each
               for each in descriptors.services[f"entitle.v1.{service}"]["method"]}
    if method not in methods:
        raise Wrong(f"{service} has no {method}")
    # The literal as JSON: names in quotes, and what is a value of an enumeration as a text.
    text = re.sub(r"(?<=: )([A-Z]\w*\.[A-Z_]+)", r'"\1"', re.sub(r"(\w+):(?= )", r'"\1":', literal))
    descriptors.check(json.loads(re.sub(r",(\s*\})", r"\1", text)), methods[method]["inputType"])
    oneof = only(re.findall(r"const \{ (\w+) \} = await client", program), "answers")
    field, member, element = only(
        re.findall(rf'{oneof}\.case === "(\w+)".*?{oneof}\.value\.(\w+)\.map\(\((\w+)\)', program, re.DOTALL),
        "uses of the answer")
    name = methods[method]["outputType"]
    for step in (field, member, only(re.findall(rf"{element}\.(\w+)", program), "names of elements")):
        name = descriptors.type_of(name, step, oneof if step == field else None)


def checks(server, document, work):
    """Each check as a name and a function that raises Wrong."""
    yield "protocol.md: Python", lambda: check_protocol(server, work, CUSTOMER)
    yield "http.md: Python", lambda: check_python(server, work, CUSTOMER)
    yield "http.md: TypeScript", lambda: check_typescript(document)
