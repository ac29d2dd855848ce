"""Compares the JSON form of messages with that of Python's google.protobuf.json_format.

Usage: compare.py FILE.proto... (each relative to a --proto_path, which come first)

Reads lines of stdin, separated by tabs: a message's full name, its bytes in hexadecimal, and the JSON
that they were turned into. Prints a line for each: what differs, or nothing; then, separated by tabs,
the message's bytes as Python encodes them, in hexadecimal, and several forms of its JSON.
"""

import base64
import json
import os
import random
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


def classes(arguments):
    """Message classes by full name."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "descriptors")
        subprocess.run(
            ["protoc", "--include_imports", "--descriptor_set_out=" + file] + arguments, check=True)
        with open(file, "rb") as stream:
            descriptors = descriptor_pb2.FileDescriptorSet.FromString(stream.read())
    pool = descriptor_pool.DescriptorPool()
    for descriptor in descriptors.file:
        pool.Add(descriptor)
    factory = message_factory.MessageFactory(pool)
    found = {}

    def add(prefix, messages):
        for message in messages:
            name = prefix + "." + message.name
            found[name] = factory.GetPrototype(pool.FindMessageTypeByName(name))
            add(name, message.nested_type)

    for descriptor in descriptors.file:
        add(descriptor.package, descriptor.message_type)
    return found


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def same(one, other):
    """Whether JSON values are equal, with numbers of floating point as numbers."""
    if isinstance(one, float) or isinstance(other, float):
        return float(one) == float(other)
    if isinstance(one, dict) and isinstance(other, dict):
        # The order of members is significant.
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def bytes_values(message, value):
    """Writes base64 in a form that readers must take as well: of the other alphabet, unpadded."""
    for field, _ in message.ListFields():
        name = field.json_name
        if name not in value:
            continue
        repeated = field.label == field.LABEL_REPEATED
        content = getattr(message, field.name)
        if field.type == field.TYPE_BYTES:
            form = lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")
            value[name] = [form(each) for each in content] if repeated else form(content)
        elif field.type == field.TYPE_MESSAGE:
            for inner, part in zip(content if repeated else [content],
                                   value[name] if repeated else [value[name]]):
                bytes_values(inner, part)
    return value


def shuffled(value, generator):
    """The same members in another order."""
    if isinstance(value, dict):
        members = [(name, shuffled(part, generator)) for name, part in value.items()]
        generator.shuffle(members)
        return dict(members)
    if isinstance(value, list):
        return [shuffled(part, generator) for part in value]
    return value


def forms(message, generator):
    plain = json_format.MessageToDict(message)
    yield compact(plain)
    yield compact(json_format.MessageToDict(message, preserving_proto_field_name=True))
    yield compact(json_format.MessageToDict(message, use_integers_for_enums=True))
    yield compact(json_format.MessageToDict(message, including_default_value_fields=True))
    yield json.dumps(shuffled(plain, generator))
    yield json.dumps(plain, indent=2).replace("\n", "\r")
    yield compact(bytes_values(message, json_format.MessageToDict(message)))


def main():
    types = classes(sys.argv[1:])
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    # Only the order of members depends on it.
    generator = random.Random(0)
    for line in sys.stdin:
        name, wire, text = line.rstrip("\n").split("\t")
        message = types[name].FromString(bytes.fromhex(wire))
        message.DiscardUnknownFields()
        difference = ""
        expected = json_format.MessageToDict(message)
        if not same(json.loads(text), expected):
            difference = "differs from " + compact(expected)
        elif json_format.Parse(text, types[name]()).SerializeToString(deterministic=True) \
                != message.SerializeToString(deterministic=True):
            difference = "is read as another message"
        elif name != "entitle.test.Kinds" and compact(expected) != text:
            # Only Kinds has floating-point numbers, which have several spellings.
            difference = "is spelled differently from " + compact(expected)
        encoded = message.SerializeToString(deterministic=True).hex()
        print("\t".join([difference, encoded, *forms(message, generator)]))


main()
