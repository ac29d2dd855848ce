#!/usr/bin/python3
"""Rewrites descriptors so that protoc-c reads them. Run alone, it does so for protos without options of ours.

Usage: descriptors_for_c.py DESCRIPTORS OUT

Exit codes: 0 done.
"""

import sys
from pathlib import Path

from google.protobuf import descriptor_pb2


# `option (pb_c_file).gen_pack_helpers = false`, of protobuf-c/protobuf-c.proto: field 2 of extension 1019.
NO_PACK_HELPERS = bytes([0xDA, 0x3F, 0x02, 0x10, 0x00])


def for_protoc_c(files, left_out=frozenset()):
    """The descriptors without the parts that protoc-c 1.4 cannot read: our own options, and
    `optional`, which by definition is a oneof with one member and has the same encoding. Also without
    what nobody uses of the C: services, comments, and functions that pack each message.

    `left_out` names files for which no C is generated, such as those that only declare options."""
    result = descriptor_pb2.FileDescriptorSet()
    for file in files:
        copy = result.file.add()
        copy.CopyFrom(file)
        dependencies = [name for name in copy.dependency if name not in left_out]
        del copy.dependency[:]
        copy.dependency.extend(dependencies)
        for message in copy.message_type:
            simplify(message)
        for enumeration in copy.enum_type:
            enumeration.ClearField("options")
        copy.ClearField("service")
        copy.ClearField("source_code_info")
        copy.options.MergeFromString(NO_PACK_HELPERS)
    return result


def simplify(message):
    message.ClearField("options")
    for field in message.field:
        field.ClearField("options")
        if field.proto3_optional:
            message.oneof_decl[field.oneof_index].name = f"has_{field.name}"
            field.ClearField("proto3_optional")
    for enumeration in message.enum_type:
        enumeration.ClearField("options")
    for nested in message.nested_type:
        simplify(nested)


def main():
    descriptors, out = map(Path, sys.argv[1:3])
    everything = descriptor_pb2.FileDescriptorSet.FromString(descriptors.read_bytes())
    out.write_bytes(for_protoc_c(everything.file).SerializeToString())


if __name__ == "__main__":
    main()
