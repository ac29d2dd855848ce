#!/usr/bin/python3
"""Generates Swift sources, and descriptors for protoc-c, from Protos/. deploy/generate-messages runs it.

Usage: generate.py DESCRIPTORS OPTIONS_DIR DOMAIN_DIR OUT_DIR

DESCRIPTORS  a FileDescriptorSet of protoc, with imports and source information
OPTIONS_DIR  where protoc wrote entitle/v1/options_pb2.py
DOMAIN_DIR   Sources/EntitlementDomain, whose structures some messages are mapped to
OUT_DIR      gets c.pb, the descriptors for protoc-c, and Swift/ with the sources

Exit codes: 0 done, 1 Protos/ contain something that the generator does not support; its name is
on stderr.
"""

import re
import sys
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

import swift_types as swift
from descriptors_for_c import for_protoc_c

NOT_GENERATED = {"entitle/v1/options.proto", "google/protobuf/descriptor.proto"}
WIDTH = 100
# No caller needs the limits of these fields.
UNNAMED_LIMITS = {"author", "on_behalf_of", "reason"}

options = None  # The module that protoc made of options.proto; set in main.


class NotUnderstood(Exception):
    """Protos/ contain something that the generator does not support."""


# MARK: Names


def words(name):
    """GetCustomerState, or get_customer_state, as ["get", "customer", "state"]."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")


def camel(name):
    first, *others = words(name)
    return first + "".join(swift.WORDS.get(word, word.capitalize()) for word in others)


def c_type(full_name):
    return "__".join(part[0].upper() + part[1:] for part in full_name.split("."))


def c_constant(full_name):
    return "__".join("_".join(words(part)) for part in full_name.split(".")).upper()


def c_function(full_name):
    return c_constant(full_name).lower()


def short(full_name):
    """A name without its package: packages are lower case."""
    return ".".join(part for part in full_name.split(".") if part[:1].isupper())


def swift_name(full_name):
    name = short(full_name)
    return swift.NAMES.get(name, name)


# MARK: Documentation


def doc(comment, indent):
    """A comment of Protos/ as one of Swift."""
    text = " ".join(comment.split())
    if not text:
        return []
    lines, line = [], f"{indent}///"
    for word in text.split(" "):
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = f"{indent}///"
        line += " " + word
    return lines + [line]


class Comments:
    """The comments of one file, by the path of the declaration that they precede."""

    def __init__(self, file):
        self.by_path = {
            tuple(location.path): location.leading_comments
            for location in file.source_code_info.location
            if location.leading_comments
        }

    def __call__(self, *path):
        return self.by_path.get(path, "")


# MARK: The domain


def domain_structures(folder):
    """Stored properties with their types, and the arguments of the first initialiser, of each
    structure: {name: ({property: type}, [argument])}."""
    structures = {}
    for path in sorted(folder.rglob("*.swift")):
        name = None
        for line in path.read_text().split("\n"):
            if match := re.match(r"(?:public|package) struct (\w+)", line):
                name = match.group(1)
                structures[name] = ({}, [])
            elif line == "}":
                name = None
            elif name and (match := re.match(r"  (?:public|package) (?:var|let) (\w+): (.+)$", line)):
                if not match.group(2).endswith("{"):
                    structures[name][0][match.group(1)] = match.group(2)
        for match in re.finditer(
            r"^(?:(?:public|package) struct|extension) (\w+)(?:(?!^\}).)*?"
            r"^  (?:public|package) init\((.*?)\) \{",
            path.read_text(), re.S | re.M,
        ):
            known = structures.get(match.group(1))
            # A structure with an initialiser of the compiler has its own in an extension.
            if known and not known[1]:
                known[1].extend(re.findall(r"(?:^|,)\s*(\w+):", match.group(2)))
    return structures


# MARK: Enumerations


class Enumeration:
    def __init__(self, descriptor, full_name, comments, path, file):
        self.full_name, self.file = full_name, file
        self.name = short(full_name)
        self.swift = swift_name(full_name)
        self.c = c_type(full_name)
        self.comments, self.path = comments, path
        prefix = "_".join(words(descriptor.name)).upper() + "_"
        zero = descriptor.value[0].name
        extensions = descriptor.options.Extensions
        self.unspecified_as = extensions[options.unspecified_as]
        self.unknown_as = extensions[options.unknown_as]
        self.has_zero = not zero.endswith("_UNSPECIFIED") or self.unknown_as == zero
        if self.has_zero:
            self.unknown_as = zero
        self.values = []
        for index, value in enumerate(descriptor.value):
            case = swift.CASES.get(value.name) or camel(value.name.removeprefix(prefix))
            self.values.append((value.name, value.number, case, index))

    @property
    def default(self):
        """The case that 0 stands for; None when it stands for no case."""
        return self.case(self.unspecified_as) if self.unspecified_as else None

    def constant(self, value):
        return f"{c_constant(self.full_name)}__{value}"

    def case(self, value):
        return next(case for name, _, case, _ in self.values if name == value)

    def declaration(self, access, indent=""):
        lines = doc(self.comments(*self.path), indent)
        lines += [f"{indent}{access} enum {self.swift.split('.')[-1]}: Int, Hashable, Sendable, CaseIterable {{"]
        for _, number, case, index in self.values:
            if number == 0 and not self.has_zero:
                continue
            lines += doc(self.comments(*self.path, 2, index), indent + "  ")
            lines.append(f"{indent}  case {case} = {number}")
        return lines + [f"{indent}}}"]

    def mapping(self):
        """Maps by name, so that the compiler reports a case that is missing on one side."""
        lines = ["", f"extension {self.swift}: MappedEnumeration {{"]
        if self.unknown_as:
            lines.append(f"  static var unknownValue: Self? {{ {self.swift}.{self.case(self.unknown_as)} }}")
            lines.append("")
        lines += [f"  init?(_ number: {self.c}) {{", "    switch number {"]
        for name, number, case, _ in self.values:
            if number == 0 and not self.has_zero:
                if self.default:
                    lines.append(f"    case {self.constant(name)}: self = .{self.default}")
                continue
            lines.append(f"    case {self.constant(name)}: self = .{case}")
        lines += ["    default: return nil", "    }", "  }", "", f"  var number: {self.c} {{"]
        lines += ["    switch self {"]
        for name, number, case, _ in self.values:
            if number != 0 or self.has_zero:
                lines.append(f"    case .{case}: {self.constant(name)}")
        return lines + ["    }", "  }", "}"]


# MARK: Fields


class Property:
    """A Swift property: a field, a oneof, or the two fields that make a scope."""

    def __init__(self, name, type_, comment):
        self.name, self.type, self.comment = name, type_, comment
        self.read, self.write = "", []
        self.checks = []  # Before it is read.
        # Of a oneof: its name, its cases, and the value where none is set; and its enumeration's cases.
        self.choice, self.declaration = None, []


class Message:
    def __init__(self, descriptor, full_name, comments, path, file, world):
        self.descriptor, self.full_name, self.file, self.world = descriptor, full_name, file, world
        self.name = short(full_name)
        self.swift = swift_name(full_name)
        self.c = c_type(full_name)
        self.comments, self.path = comments, path
        self.oneofs = [oneof.name for oneof in descriptor.oneof_decl]
        self.leaves_out = descriptor.options.Extensions[options.leave_out_unknown]

    @property
    def fields(self):
        return list(enumerate(self.descriptor.field))

    def comment(self, index):
        return self.comments(*self.path, 2, index)

    def limits(self, field):
        extensions = field.options.Extensions
        return {
            name: extensions[getattr(options, name)]
            for name in (
                "required", "max_bytes", "max_items", "uuid", "lower_case", "default_page_size",
                "largest_page_size", "known_only", "always_set",
            )
        }

    def is_requested(self):
        return self.full_name in self.world.requested

    def property_name(self, field):
        name = swift.PROPERTIES.get(f"{self.name}.{field.name}") or swift.PROPERTIES.get(field.name)
        if name:
            return name
        is_moment = field.name.endswith("_ms") and field.type == Field.TYPE_INT64
        return camel(field.name.removesuffix("_ms") if is_moment else field.name)

    # MARK: Types

    def swift_type(self, field, limits):
        """The type of a field, for a message whose structure is generated."""
        if type_ := swift.TYPES.get(f"{self.name}.{field.name}"):
            return type_
        is_list = field.label == Field.LABEL_REPEATED
        is_present = limits["required"] or limits["always_set"]
        if field.type == Field.TYPE_STRING:
            base, can_miss = "String", not is_present
            ends = [end for end in swift.IDENTIFIERS if re.search(rf"(^|_){end}s?$", field.name)]
            if ends:
                base = swift.IDENTIFIERS[max(ends, key=len)]
        elif field.type == Field.TYPE_BYTES:
            base, can_miss = "[UInt8]", self.is_requested() and not is_present
        elif field.type == Field.TYPE_MESSAGE:
            base = swift_name(field.type_name)
            can_miss = not is_present and short(field.type_name) not in swift.ABSENT
        elif field.type == Field.TYPE_ENUM:
            enumeration = self.world.enumerations[field.type_name[1:]]
            base = enumeration.swift
            can_miss = not (
                enumeration.unspecified_as or enumeration.has_zero or limits["required"]
            )
        else:
            base = {
                Field.TYPE_INT64: "Milliseconds" if field.name.endswith("_ms") else "Int64",
                Field.TYPE_INT32: "Int",
                Field.TYPE_BOOL: "Bool",
            }.get(field.type)
            if base is None:
                raise NotUnderstood(f"{self.full_name}.{field.name} has a type without a rule")
            can_miss = field.proto3_optional
        if is_list:
            return f"[{base}]"
        return f"{base}?" if can_miss else base

    # MARK: Reading and writing one field

    def map(self, field, type_, property_, limits):
        """Sets how a property is read and written. For a case of a oneof, the property is the
        associated value."""
        name, target = field.name, f"message.{field.name}"
        base, can_miss = type_.removesuffix("?"), type_.endswith("?")
        value = property_.name
        literal = f'"{name}"'
        limit = f", limit: {limits['max_bytes']:_}" if limits["max_bytes"] else ""
        checked = self.is_requested()
        if field.label == Field.LABEL_REPEATED:
            return self.map_list(field, base, property_, limits)
        if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES):
            self.map_text(field, base, can_miss, property_, limits, limit, checked)
        elif field.type == Field.TYPE_MESSAGE:
            part = swift_name(field.type_name)
            if default := swift.ABSENT.get(short(field.type_name)):
                property_.read = f"try Self.optional({target}, as: {part}.self) ?? {default}"
                property_.write = [
                    f"if {value} != {default} {{ {target} = try {value}.make(in: arena) }}"
                ]
            elif can_miss:
                property_.read = f"try Self.optional({target}, as: {part}.self)"
                property_.write = [f"if let {value} {{ {target} = try {value}.make(in: arena) }}"]
            else:
                # Requests have limits that stored values need not meet.
                is_shared = self.is_requested() and short(field.type_name) in swift.STRICT_IN_REQUESTS
                function = "requested" if is_shared else "required"
                property_.read = f"try Self.{function}({target}, as: {part}.self, {literal})"
                property_.write = [f"{target} = try {value}.make(in: arena)"]
        elif field.type == Field.TYPE_ENUM:
            if can_miss:
                property_.read = f"Self.optional({target}, as: {base}.self)"
                property_.write = [f"if let {value} {{ {target} = {value}.number }}"]
            else:
                property_.read = f"try Self.required({target}, as: {base}.self, {literal})"
                property_.write = [f"{target} = {value}.number"]
                if default := self.world.enumerations[field.type_name[1:]].default:
                    # The default is not sent.
                    property_.write = [f"if {value} != .{default} {{ {property_.write[0]} }}"]
        else:
            self.map_number(field, base, can_miss, property_, limits)

    def map_text(self, field, base, can_miss, property_, limits, limit, checked):
        name, target, value = field.name, f"message.{field.name}", property_.name
        literal = f'"{name}"'
        if field.type == Field.TYPE_BYTES:
            if checked and limits["required"]:
                property_.read = f"try Self.required({target}, {literal}{limit})"
            elif checked:
                property_.read = f"try Self.bounded({target}, {literal}{limit})"
            else:
                property_.read = f"try Self.bounded({target}, {literal}{limit}) ?? []"
            property_.write = [f"{target} = try Self.bytes({value}, in: arena)"]
            return
        is_identifier = base in set(swift.IDENTIFIERS.values())
        if limits["uuid"]:
            property_.read = (
                f"try Self.optionalUUID({target}, {literal})" if can_miss
                else f"try Self.requiredUUID({target}, {literal})"
            )
        elif checked and limits["required"]:
            property_.read = f"try Self.required({target}, {literal}{limit})"
        elif checked and limit:
            property_.read = f"try Self.bounded({target}, {literal}{limit})"
        elif is_identifier:
            property_.read = (
                f"Self.optionalIdentifier({target})" if can_miss else f"Self.identifier({target})"
            )
        elif base == "String":
            property_.read = f"Self.optionalText({target})" if can_miss else f"Self.text({target})"
        elif can_miss:
            property_.read = f"Self.optionalText({target}).map({base}.init(rawValue:))"
        else:
            property_.read = f"{base}(rawValue: Self.text({target}))"
        if limits["lower_case"]:
            property_.read = f"Self.lowercased({property_.read})".replace(
                "Self.lowercased(try ", "try Self.lowercased("
            )
        text = value
        if not is_identifier and base != "String":
            text += "?.rawValue" if can_miss else ".rawValue"
        property_.write = [f"{target} = try Self.text({text}, {literal}, in: arena)"]

    def map_number(self, field, base, can_miss, property_, limits):
        name, target, value = field.name, f"message.{field.name}", property_.name
        if field.type == Field.TYPE_BOOL:
            read, write = f"{target} != 0", f"{value} ? 1 : 0"
        elif field.type == Field.TYPE_INT32:
            read, write = f"Int({target})", f"Int32(clamping: {value})"
            if limits["largest_page_size"]:
                read = f'try Self.pageSize({target}, "{name}")'
        elif base == "Int64":
            read, write = target, value
        elif base == "Int":
            read, write = f"Int({target})", f"Int64({value})"
        elif base == "Milliseconds":
            read, write = f"Milliseconds({target})", f"{value}.rawValue"
        else:
            read, write = f"{base}(rawValue: {target})", f"{value}.rawValue"
        if not can_miss:
            property_.read, property_.write = read, [f"{target} = {write}"]
            return
        constant = f"{c_constant(self.full_name)}__HAS_{name.upper()}_{name.upper()}"
        property_.read = f"message.has_{name}_case.isSet ? {read} : nil"
        property_.write = [
            f"if let {value} {{",
            f"  message.has_{name}_case = {constant}",
            f"  {target} = {write}",
            "}",
        ]

    def map_list(self, field, base, property_, limits):
        name, target, value = field.name, f"message.{field.name}", property_.name
        count = f"message.n_{name}"
        literal = f'"{name}"'
        if self.is_requested():
            if limits["required"]:
                property_.checks.append(f"try Self.checkNotEmpty({count}, {literal})")
            if limits["max_items"]:
                property_.checks.append(
                    f"try Self.checkCount({count}, {literal}, limit: {limits['max_items']:_})"
                )
        if field.type == Field.TYPE_MESSAGE:
            part = swift_name(field.type_name)
            known = ""
            if self.world.messages[field.type_name[1:]].leaves_out:
                known = f", where: {part}.isKnown"
            property_.read = f"try Self.list({target}, count: {count}, of: {part}.self{known})"
            write = f"try Self.list({value}, in: arena)"
        elif field.type == Field.TYPE_ENUM:
            part = self.world.enumerations[field.type_name[1:]].swift
            if limits["known_only"]:
                read = f"try Self.known({target}, count: {count}, of: {part}.self, {literal})"
            else:
                read = f"Self.known({target}, count: {count}, of: {part}.self)"
            is_set = base.startswith("Set<")
            property_.read = f"Set({read})" if is_set else read
            write = f"try Self.list({value}{'.inOrder' if is_set else ''}, in: arena)"
        elif field.type == Field.TYPE_STRING and base == "[String]":
            property_.read = f"Self.texts({target}, count: {count})"
            write = f"try Self.texts({value}, {literal}, in: arena)"
        else:
            raise NotUnderstood(f"{self.full_name}.{name} is a list of a type without a rule")
        property_.write = [f"{count} = {value}.count", f"{target} = {write}"]

    # MARK: Properties

    def properties(self, structure):
        """In the order of the fields.

        structure: the properties of a type of the domain with their types; None when the structure
        is generated.
        """
        result, seen = [], set()
        names = [field.name for _, field in self.fields]
        has_scope = "bundle_id" in names and "environment" in names
        for index, field in self.fields:
            limits = self.limits(field)
            comment = self.comment(index)
            is_choice = field.HasField("oneof_index") and not field.proto3_optional
            if is_choice:
                oneof = self.oneofs[field.oneof_index]
                if oneof not in seen:
                    seen.add(oneof)
                    result.append(self.choice(oneof, field.oneof_index))
                continue
            if has_scope and field.name == "environment":
                continue
            if has_scope and field.name == "bundle_id":
                property_ = Property("scope", "AppScope", "The app and environment.")
                property_.read = (
                    "try Self.scope(bundleID: message.bundle_id, environment: message.environment)"
                )
                property_.write = [
                    'message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)',
                    "message.environment = scope.environment.number",
                ]
            else:
                name = self.property_name(field)
                if structure is None:
                    type_ = self.swift_type(field, limits)
                elif name in structure:
                    type_ = structure[name]
                else:
                    raise NotUnderstood(
                        f"{self.full_name}.{field.name}: {self.swift} has no property {name}"
                    )
                property_ = Property(name, type_, comment)
                self.map(field, type_, property_, limits)
            result.append(property_)
        return result

    def choice(self, oneof, number):
        """A oneof as a property."""
        try:
            name, type_, cases = swift.ONEOFS[f"{self.name}.{oneof}"]
        except KeyError:
            raise NotUnderstood(f"{self.full_name}.{oneof}: ONEOFS does not name it") from None
        property_ = Property(name, type_, self.comments(*self.path, 8, number))
        read, write, declaration = self.cases(oneof, number, cases)
        is_optional = type_.endswith("?")
        missing = "nil" if is_optional else None
        property_.choice = (oneof, read, missing)
        property_.write = [f"switch {name} {{"]
        for lines in write:
            property_.write += lines
        if is_optional:
            property_.write += ["case nil:", "  break"]
        property_.write += ["}"]
        property_.declaration = declaration if "." not in type_ else []
        return property_

    def cases(self, oneof, number, cases):
        """How the cases of a oneof are read and written, and how they are declared."""
        read, write, declaration = [], [], []
        for index, field in self.fields:
            if not field.HasField("oneof_index") or field.oneof_index != number:
                continue
            limits = self.limits(field)
            limits["required"] = True
            constant = f"{c_constant(self.full_name)}__{oneof.upper()}_{field.name.upper()}"
            payload = Property("value", None, "")
            type_ = self.swift_type(field, limits)
            self.map(field, type_, payload, limits)
            case = cases[field.name]
            read.append((constant, case, payload.read))
            write.append(
                [f"case .{case}(let value):"] + ["  " + line for line in payload.write]
                + [f"  message.{oneof}_case = {constant}"]
            )
            declaration += doc(self.comment(index), "    ") + [f"    case {case}({type_})"]
        return read, write, declaration

    # MARK: Swift

    def read_choice(self, property_, assign):
        oneof, cases, missing = property_.choice
        lines = [f"switch message.{oneof}_case {{"]
        for constant, case, read in cases:
            lines += [f"case {constant}:", f"  {assign} = .{case}({read})"]
        if missing:
            lines += ["default:", f"  {assign} = {missing}"]
        else:
            lines += ["default:", f'  throw Self.error(.missing(field: "{oneof}"))']
        return lines + ["}"]

    def limits_declaration(self, access):
        """Constants for limits that callers need."""
        lines = []
        for _, field in self.fields:
            limits = self.limits(field)
            name = camel(field.name)
            name = name[0].upper() + name[1:]
            is_identifier = re.search(r"_id(s)?$|_token$", field.name)
            if limits["max_items"]:
                lines += [
                    f"  /// Maximum number of entries in `{field.name}`.",
                    f"  {access} static let maximum{name} = {limits['max_items']:_}",
                ]
            elif limits["max_bytes"] and not is_identifier and field.name not in UNNAMED_LIMITS:
                lines += [
                    f"  /// Maximum length of `{field.name}`, in bytes.",
                    f"  {access} static let maximum{name}Length = {limits['max_bytes']:_}",
                ]
            elif limits["largest_page_size"]:
                lines += [
                    f"  /// The page size that a `{field.name}` of 0 stands for.",
                    f"  {access} static let defaultPageSize = {limits['default_page_size']:_}",
                    f"  /// The maximum page size; a larger `{field.name}` is reduced to it.",
                    f"  {access} static let largestPageSize = {limits['largest_page_size']:_}",
                    "  /// The page size after applying the default and the maximum.",
                    f"  {access} var effectivePageSize: Int {{",
                    "    pageSize == 0 ? Self.defaultPageSize : min(pageSize, Self.largestPageSize)",
                    "  }",
                ]
        return lines

    def documentation(self):
        comment = self.comments(*self.path)
        if not comment and self.full_name in self.world.asked:
            service, method, text = self.world.asked[self.full_name]
            comment = f"Request of `{method}`. {text}"
        if not comment and self.full_name in self.world.answered:
            comment = f"Response of `{self.world.answered[self.full_name]}`."
        if not comment:
            raise NotUnderstood(f"{self.full_name} has no comment")
        return doc(comment, "")

    def ordered(self, properties, order):
        by_name = {property_.name: property_ for property_ in properties}
        missing = [name for name in order if name not in by_name]
        if missing:
            raise NotUnderstood(f"{self.full_name} has no field for {', '.join(missing)}")
        return [by_name[name] for name in order]

    def structure(self, access):
        properties = self.properties(None)
        is_lenient = self.name.endswith("Request") or self.name in swift.LENIENT
        lines = self.documentation()
        lines.append(f"{access} struct {self.swift}: Hashable, Sendable {{")
        for property_ in properties:
            if property_.declaration:
                enum = property_.type.removesuffix("?")
                lines += [
                    f"  /// The values of `{property_.name}`.",
                    f"  {access} enum {enum}: Hashable, Sendable {{",
                ]
                lines += property_.declaration + ["  }", ""]
        for enumeration in self.world.nested(self.full_name):
            if enumeration.name not in swift.DOMAIN_ENUMERATIONS:
                lines += enumeration.declaration(access, "  ") + [""]
        for property_ in properties:
            lines += doc(property_.comment, "  ")
            lines.append(f"  {access} var {property_.name}: {property_.type}")
        if properties:
            lines.append("")
        arguments = []
        order = swift.ORDERS.get(self.name)
        for property_ in self.ordered(properties, order) if order else properties:
            argument = f"{property_.name}: {property_.type}"
            default = self.default(property_) if is_lenient else None
            arguments.append(argument + (f" = {default}" if default else ""))
        lines += wrapped(f"  {access} init(", arguments, ") {" if properties else ") {}")
        if properties:
            lines += [f"    self.{property_.name} = {property_.name}" for property_ in properties]
            lines.append("  }")
        return lines + ["}"], properties

    def conformance(self):
        return [
            "",
            f"extension {self.swift}: WireMessage, MappedMessage {{",
            f"  static let shape = MessageShape({c_function(self.full_name)}__init)",
            "",
            "  package static var messageType: MessageType { shape.type }",
            "",
            "  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {",
            "    try read(from: buffer)",
            "  }",
            "",
            "  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {",
            "    try append(to: &buffer)",
            "  }",
            "",
        ]

    def default(self, property_):
        type_ = property_.type
        if type_.endswith("?"):
            return "nil"
        if type_ == "ReadConsistency":
            return swift.ABSENT["Consistency"]
        if type_.startswith("[") and self.name in swift.LENIENT:
            return "[]"
        if type_ == "Bool":
            return "false"
        if self.name.endswith("Request"):
            for enumeration in self.world.enumerations.values():
                if enumeration.swift == type_ and enumeration.default:
                    return "." + enumeration.default
            if type_ in ("Int", "Int64"):
                return "0"
            if f"{self.name}.{property_.name}" in swift.TYPES:
                return '""'
        return None

    def mapping(self, properties, arguments=None):
        """arguments: those of the initialiser of a domain type; None for a generated type."""
        throws = any(
            p.choice or p.checks or p.read.startswith("try ") or "(try " in p.read
            for p in properties
        )
        uses_arena = any("arena" in line for p in properties for line in p.write)
        lines = self.conformance() + self.is_known()
        mark = " throws(MessageError)" if throws else ""
        lines.append(f"  init(reading message: {self.c}){mark} {{" + ("" if properties else "}"))
        if properties:
            body = []
            for property_ in properties:
                body += property_.checks
            if arguments is None:
                for property_ in properties:
                    if property_.choice:
                        body += self.read_choice(property_, property_.name)
                    else:
                        body.append(f"{property_.name} = {property_.read}")
            else:
                given = self.ordered(properties, arguments)
                call = [f"{p.name}: {p.read}" for p in given]
                body += wrapped("self.init(", call, ")", indent="  ")
                for property_ in properties:
                    if property_.name not in arguments:
                        body.append(f"{property_.name} = {property_.read}")
            lines += ["    " + line for line in body] + ["  }"]
        lines.append("")
        mark = " throws(MessageError)" if uses_arena else ""
        if not properties:
            lines.append(f"  func write(to message: inout {self.c}, in arena: MessageArena) {{}}")
        else:
            lines += [
                "  func write(", f"    to message: inout {self.c}, in arena: MessageArena",
                f"  ){mark} {{",
            ]
            for property_ in properties:
                lines += ["    " + line for line in property_.write]
            lines.append("  }")
        return lines + ["}"]

    def is_known(self):
        if not self.leaves_out:
            return []
        conditions = []
        for oneof in self.oneofs:
            if not oneof.startswith("_") and not swift.ONEOFS[f"{self.name}.{oneof}"][1].endswith("?"):
                conditions.append(f"message.{oneof}_case.isSet")
        for _, field in self.fields:
            if field.type == Field.TYPE_ENUM:
                enumeration = self.world.enumerations[field.type_name[1:]]
                if field.name == "kind":
                    conditions.append(f"{enumeration.swift}(message.{field.name}) != nil")
            elif field.type == Field.TYPE_MESSAGE:
                part = self.world.messages[field.type_name[1:]]
                if not part.leaves_out:
                    continue
                check = f"Self.isKnown(message.{field.name}, as: {part.swift}.self)"
                if field.HasField("oneof_index"):
                    # Fields of a oneof share their memory.
                    oneof = self.oneofs[field.oneof_index]
                    constant = f"{c_constant(self.full_name)}__{oneof.upper()}_{field.name.upper()}"
                    check = f"(message.{oneof}_case != {constant} || {check})"
                conditions.append(check)
        return [
            "  /// False for a kind that only a newer server knows: lists leave the entry out.",
            f"  static func isKnown(_ message: {self.c}) -> Bool {{",
            "    " + "\n      && ".join(conditions),
            "  }",
            "",
        ]

    def choice_message(self):
        """A message that consists of one oneof, for an enumeration of the domain."""
        oneof = self.oneofs[0]
        read, write, _ = self.cases(oneof, 0, swift.CHOICES[self.name])
        property_ = Property("self", "", "")
        property_.choice = (oneof, read, None)
        lines = self.conformance()
        lines.append(f"  init(reading message: {self.c}) throws(MessageError) {{")
        lines += ["    " + line for line in self.read_choice(property_, "self")]
        lines += [
            "  }", "", "  func write(", f"    to message: inout {self.c}, in arena: MessageArena",
            "  ) throws(MessageError) {", "    switch self {",
        ]
        for part in write:
            lines += ["    " + line for line in part]
        return lines + ["    }", "  }", "}"]


def wrapped(start, items, end, indent=""):
    """A call or declaration with its arguments, on as many lines as it needs."""
    lead = " " * (len(start) - len(start.lstrip()))
    line = start + ", ".join(items) + end
    if len(line) + len(indent) * 2 <= WIDTH:
        return [line]
    return [start] + [f"{lead}  {item}," for item in items[:-1]] + [f"{lead}  {items[-1]}"] + [lead + end]


# MARK: All files


class World:
    """All declarations of Protos/."""

    def __init__(self, files):
        self.files = files
        self.messages, self.enumerations = {}, {}
        self.asked, self.answered = {}, {}
        for file in files:
            comments = Comments(file)
            for index, message in enumerate(file.message_type):
                full_name = f"{file.package}.{message.name}"
                self.messages[full_name] = Message(
                    message, full_name, comments, (4, index), file, self)
                for inner, enumeration in enumerate(message.enum_type):
                    name = f"{full_name}.{enumeration.name}"
                    self.enumerations[name] = Enumeration(
                        enumeration, name, comments, (4, index, 4, inner), file)
                if message.nested_type:
                    raise NotUnderstood(f"{full_name} has a message inside")
            for index, enumeration in enumerate(file.enum_type):
                name = f"{file.package}.{enumeration.name}"
                self.enumerations[name] = Enumeration(
                    enumeration, name, comments, (5, index), file)
            for index, service in enumerate(file.service):
                for inner, method in enumerate(service.method):
                    text = comments(6, index, 2, inner)
                    self.asked.setdefault(
                        method.input_type[1:], (service.name, method.name, text))
                    self.answered.setdefault(method.output_type[1:], method.name)
        self.requested = self.reached_from_requests()

    def reached_from_requests(self):
        """The messages of requests, whose limits are checked when they are read."""
        waiting = [name for name in self.messages if name in self.asked]
        reached = set()
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            reached.add(name)
            for _, field in self.messages[name].fields:
                if field.type == Field.TYPE_MESSAGE:
                    waiting.append(field.type_name[1:])
        return reached

    def nested(self, full_name):
        return [
            enumeration for name, enumeration in self.enumerations.items()
            if name.rpartition(".")[0] == full_name
        ]


HEADER = ["// Generated by deploy/generate-messages from Protos/{}. Do not edit.", "// swift-format-ignore-file", ""]


def messages_file(file, world, structures):
    access = "package" if file.name in swift.PACKAGE_FILES else "public"
    lines = [line.format(file.name) for line in HEADER]
    body = []
    for enumeration in world.enumerations.values():
        owner = enumeration.full_name.rpartition(".")[0]
        if owner != file.package and owner not in world.messages:
            continue
        if enumeration.file is not file:
            continue
        if enumeration.name in swift.ENUMERATIONS_BY_HAND:
            continue
        if owner == file.package and enumeration.name not in swift.DOMAIN_ENUMERATIONS:
            body += [""] + enumeration.declaration(access)
        body += enumeration.mapping()
    for message in world.messages.values():
        if message.file is not file:
            continue
        if message.name in swift.BY_HAND:
            if message.name not in swift.PRIVATE:
                body += message.conformance()[:-1] + ["}"]
            limits = message.limits_declaration(access)
            if limits:
                body += ["", f"extension {message.swift} {{"] + limits + ["}"]
        elif message.name in swift.CHOICES:
            body += message.choice_message()
        elif message.name in swift.DOMAIN_MESSAGES:
            structure, arguments = structures[message.swift]
            body += message.mapping(message.properties(structure), arguments)
        else:
            declaration, properties = message.structure(access)
            body += [""] + declaration
            limits = message.limits_declaration(access)
            if limits:
                body += ["", f"extension {message.swift} {{"] + limits + ["}"]
            body += message.mapping(properties)
    text = "\n".join(body)
    lines.append("import CEntitleMessages")
    exported = re.search(rf"{access} (?:var|case|init|static).*", text) and access == "public"
    uses_domain = "public" if exported else "package"
    if not re.search(r"^(?:public|package) struct", text, re.M):
        uses_domain = "package"
    if file.message_type:
        lines.append(f"{uses_domain} import EntitlementDomain".strip())
    if "ByteBuffer" in text:
        lines.append("package import NIOCore")
    return "\n".join(lines) + "\n" + text + "\n"


def permission_of(file, service, method):
    """The number of the permission that a method needs. Services of others are open to everyone."""
    if file.package != "entitle.v1":
        return 1
    number = method.options.Extensions[options.permission]
    if number == 0:
        raise NotUnderstood(f"{service.name}.{method.name} has no permission")
    return number


def methods_file(world):
    permissions = {
        number: case
        for _, number, case, _ in world.enumerations["entitle.v1.Permission"].values
    }
    levels = {0: "unknown", 1: "noSideEffects", 2: "idempotent"}
    lines = [line.format("") for line in HEADER]
    lines[0] = "// Generated by deploy/generate-messages from the services of Protos/. Do not edit."
    methods, names, needed, described = [], [], [], []
    for file in world.files:
        comments = Comments(file)
        for index, service in enumerate(file.service):
            group = swift.SERVICES[service.name]
            names.append(f'  package static let {group} = "{file.package}.{service.name}"')
            for inner, method in enumerate(service.method):
                name = swift.METHODS.get(f"{service.name}.{method.name}") or camel(method.name)
                request, response = swift_name(method.input_type), swift_name(method.output_type)
                text = comments(6, index, 2, inner)
                if method.server_streaming:
                    text += " Server streaming."
                permission = permissions[permission_of(file, service, method)]
                needed.append(
                    f'    "\\(ServiceNames.{group})/{method.name}": .{permission},')
                streaming = "true" if method.server_streaming else "false"
                described.append(
                    f"    MethodDescription({name}, isServerStreaming: {streaming}),")
                methods += doc(text, "  ")
                methods += [
                    f"  package static let {name} = WireMethod<{request}, {response}>(",
                    f'    service: ServiceNames.{group}, name: "{method.name}",',
                    f"    idempotency: .{levels[method.options.idempotency_level]}, permission: .{permission})",
                    "",
                ]
    lines += ["/// The methods of `Protos/`.", "package enum WireMethods {"] + methods
    lines += ["  /// What each method needs, by `SERVICE/METHOD`."]
    lines += ["  package static let permissions: [String: Permission] = ["] + needed + ["  ]", ""]
    lines += ["  /// All methods, for fronts that read their messages by descriptor."]
    lines += ["  package static let all: [MethodDescription] = ["] + described + ["  ]", "}", ""]
    lines += ["/// Full names of the services of `Protos/`.", "package enum ServiceNames {"]
    return "\n".join(lines + names + ["}"]) + "\n"


def types_file(world):
    lines = [line.format("") for line in HEADER]
    lines[0] = "// Generated by deploy/generate-messages from the messages of Protos/. Do not edit."
    lines += [
        "import CEntitleMessages", "", "extension MessageType {", "  /// Every message of `Protos/`.",
        "  package static let all: [MessageType] = [",
    ]
    lines += [f"    MessageShape({c_function(name)}__init).type," for name in sorted(world.messages)]
    return "\n".join(lines + ["  ]", "}"]) + "\n"


def main():
    global options
    descriptors, options_folder, domain, out = map(Path, sys.argv[1:5])
    sys.path.insert(0, str(options_folder))
    from entitle.v1 import options_pb2

    options = options_pb2
    everything = descriptor_pb2.FileDescriptorSet.FromString(descriptors.read_bytes())
    files = [file for file in everything.file if file.name not in NOT_GENERATED]
    (out / "c.pb").write_bytes(for_protoc_c(files, NOT_GENERATED).SerializeToString())
    world = World(files)
    structures = domain_structures(domain)
    folder = out / "Swift"
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        name = "".join(part.capitalize() for part in Path(file.name).stem.split("_")) + "Messages.swift"
        (folder / name).write_text(messages_file(file, world, structures))
    (folder / "WireMethods.swift").write_text(methods_file(world))
    (folder / "MessageTypes.swift").write_text(types_file(world))


if __name__ == "__main__":
    try:
        main()
    except NotUnderstood as error:
        print(f"generate.py: {error}", file=sys.stderr)
        sys.exit(1)
