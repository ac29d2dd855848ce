"""Faults of a JWS: of its text, header, JSON, certificates or signature."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from authority import (
    INTERMEDIATE,
    INTERMEDIATE_MARK,
    LEAF,
    LEAF_MARK,
    ROOT,
    Authority,
    base64url,
    raw_signature,
)
from variants import (
    BUNDLE_ID,
    SIGNED,
    Factory,
    Variant,
    app_transaction,
    data,
    members,
    notification,
    renewal_info,
    transaction,
)

# The order of P-256 (SEC 2, section 2.4.2).
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def texts(f: Factory) -> Iterator[Variant]:
    valid = f.token().text()
    header, payload, signature = valid.split(".")
    for label, text in {
        "empty": "",
        "one part": header,
        "two parts": f"{header}.{payload}",
        "four parts": f"{valid}.AA",
        "no header": f".{payload}.{signature}",
        "no payload": f"{header}..{signature}",
        "no signature": f"{header}.{payload}.",
        "cut in the middle": valid[: len(valid) // 2],
        "cut by one": valid[:-1],
        "a line break after it": valid + "\n",
        "a blank before it": " " + valid,
        "a line break inside": valid[:100] + "\n" + valid[100:],
        "not base64": f"{header}.{payload}.!!!!",
        "not ASCII": f"{header}.{payload}.\u00e9\u00e9",
    }.items():
        yield f.variant(f"text: {label}", text)
    yield f.variant("text: padding after the signature", valid + "==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    stray = alphabet[alphabet.index(valid[-1]) ^ 1]
    yield f.variant("text: stray bits after the signature", valid[:-1] + stray)
    token = f.token(transaction(n="\u00fb\u00ff\u00fe" * 9, m="ab"))
    yield f.variant(
        "text: payload in standard base64, signed so",
        token.signed_as_written(payload=base64.b64encode(token.payload_bytes).decode()),
    )
    while len(token.payload_bytes) % 3 == 0:
        token = token.changed(payload=token.payload | {"p": "x" * len(token.payload_bytes)})
    spelled = base64.urlsafe_b64encode(token.payload_bytes).decode()
    yield f.variant(
        "text: payload with padding, signed so", token.signed_as_written(payload=spelled)
    )
    bare = base64url(token.payload_bytes)
    stray = alphabet[alphabet.index(bare[-1]) ^ 1]
    yield f.variant(
        "text: stray bits in the payload, signed so",
        token.signed_as_written(payload=bare[:-1] + stray),
    )
    yield f.variant(
        "text: a line break in the payload, signed so",
        token.signed_as_written(payload=bare[:40] + "\n" + bare[40:]),
    )


def headers(f: Factory) -> Iterator[Variant]:
    for alg in [None, "none", "HS256", "es256", "ES384", "RS256", "", 256, ["ES256"]]:
        yield f.variant(f"header: alg {json.dumps(alg)}", f.token(alg=alg))
    for label, more in {
        "crit empty": {"crit": []},
        "crit null": {"crit": None},
        "crit b64": {"crit": ["b64"], "b64": True},
        "crit unknown": {"crit": ["exp"], "exp": 1},
        "b64 false": {"b64": False},
        "b64 true": {"b64": True},
        "kid a number": {"kid": 1},
    }.items():
        yield f.variant(f"header: {label}", f.token(more=more))
    good = f.token().header_bytes.decode()
    for label, raw in {
        "alg twice": good[:-1] + ',"alg":"ES256"}',
        "alg twice, none first": '{"alg":"none",' + good[1:],
        "x5c twice": '{"x5c":[],' + good[1:],
        "alg twice, escaped": good[:-1] + ',"\\u0061lg":"ES256"}',
        "not an object": "[]",
        "not JSON": "{",
        "byte order mark": "\ufeff" + good,
        "an unknown member twice": good[:-1] + ',"n":1,"n":2}',
    }.items():
        yield f.variant(f"header: {label}", f.token(raw_header=raw))
    chain = [base64.b64encode(c).decode() for c in f.own.chain]
    for label, x5c in {
        "missing": None,
        "empty": [],
        "text": chain[0],
        "of numbers": [1, 2, 3],
        "of nulls": [None] * 3,
        "an object": {"0": chain[0]},
        "one certificate": chain[:1],
        "two certificates": chain[:2],
        "four certificates": chain + chain[2:],
        "reversed": chain[::-1],
        "leaf twice": [chain[0], chain[0], chain[2]],
        "intermediate for root": [chain[0], chain[1], chain[1]],
        "leaf for root": [*chain[:2], chain[0]],
        "root for intermediate": [chain[0], chain[2], chain[2]],
        "root of another authority": [*chain[:2], base64.b64encode(f.twin.root.der).decode()],
        "no certificate in third place": [*chain[:2], "AAAA"],
        "empty text in third place": [*chain[:2], ""],
        "text of no base64 in third place": [*chain[:2], "*"],
        "a number in third place": [*chain[:2], 7],
        "line breaks in the first": ["\n".join([chain[0][:64], chain[0][64:]]), *chain[1:]],
        "base64url in the first": [chain[0].replace("+", "-").replace("/", "_") + "-", *chain[1:]],
        "PEM in the first": ["-----BEGIN CERTIFICATE-----" + chain[0], *chain[1:]],
    }.items():
        yield f.variant(f"x5c: {label}", f.token(x5c=x5c))


def payloads(f: Factory) -> Iterator[Variant]:
    body = members(transaction())
    for label, text in {
        "not an object": "[]",
        "null": "null",
        "a number": "1",
        "empty": "",
        "not JSON": "{",
        "empty object": "{}",
        "bytes after it": f"{{{body}}}x",
        "two objects": f"{{{body}}}{{}}",
        "byte order mark": f"\ufeff{{{body}}}",
        "comma at the end": f"{{{body},}}",
        "comment": f"{{{body}}}//",
        "NaN": f'{{{body},"n":NaN}}',
        "Infinity": f'{{{body},"n":-Infinity}}',
        "leading zero": f'{{{body},"n":01}}',
        "control character in text": f'{{{body},"n":"\t"}}',
        "lone surrogate": f'{{{body},"n":"\\ud800"}}',
        "unknown escape": f'{{{body},"n":"\\x"}}',
        "name twice": f'{{{body},"productId":"com.example.scribe.pro.monthly"}}',
        "bundle id twice": f'{{"bundleId":"com.example.other",{body}}}',
        "bundle id twice, the other last": f'{{{body},"bundleId":"com.example.other"}}',
        "environment twice, escaped": f'{{"environmen\\u0074":"Production",{body}}}',
        "unread name twice": f'{{{body},"n":1,"n":2}}',
        "nested name twice": f'{{{body},"n":{{"a":1,"a":2}}}}',
        "nested 63 deep": f'{{{body},"n":{"[" * 63}{"]" * 63}}}',
        "nested 64 deep": f'{{{body},"n":{"[" * 64}{"]" * 64}}}',
        "nested 10000 deep": f'{{{body},"n":{"[" * 10000}{"]" * 10000}}}',
        "an unread number of 1000 digits": f'{{{body},"n":{"7" * 1000}}}',
        "an unread number of 5000 digits": f'{{{body},"n":{"7" * 5000}}}',
        "250 kB of an unread text": f'{{{body},"n":"{"a" * 250_000}"}}',
    }.items():
        yield f.variant(f"payload: {label}", f.token(text))
    encoded = f"{{{body}}}"
    yield f.variant("payload: UTF-16", f.token(encoded.encode("utf-16")))
    yield f.variant(
        "payload: UTF-8 that is none", f.token(f'{{{body},"n":"'.encode() + b"\xff" + b'"}')
    )
    yield f.variant(
        "payload: a surrogate in UTF-8",
        f.token(f'{{{body},"n":"'.encode() + b"\xed\xa0\x80" + b'"}'),
    )


def fields(f: Factory) -> Iterator[Variant]:
    body = members(transaction(signedDate=..., quantity=...))
    for label, value in {
        "1.0": f"{SIGNED}.0",
        "1e3": "17040672e5",
        "fraction": f"{SIGNED}.5",
        "text": f'"{SIGNED}"',
        "true": "true",
        "beyond 64 bits": "9223372036854775808",
        "minus zero": "-0",
        "-0.0": "-0.0",
        "an object": "{}",
        "an array": "[]",
    }.items():
        yield f.variant(
            f"field: signedDate as {label}", f.token(f'{{{body},"signedDate":{value}}}')
        )
    for label, value in {
        "1.0": "1.0",
        "1e0": "1e0",
        "1.5": "1.5",
        "text": '"1"',
        "true": "true",
        "an array": "[]",
        "beyond 64 bits": "9223372036854775808",
        "minus zero": "-0",
        "null": "null",
    }.items():
        yield f.variant(
            f"field: quantity as {label}",
            f.token(f'{{{body},"signedDate":{SIGNED},"quantity":{value}}}'),
        )
    for label, value in {"1": 1, "text": "true", "an array": []}.items():
        yield f.variant(f"field: isUpgraded as {label}", f.token(transaction(isUpgraded=value)))
    for name in ["transactionId", "productId", "type", "storefront", "bundleId", "environment"]:
        for label, value in {
            "a number": 7,
            "true": True,
            "an array": ["a"],
            "an object": {},
        }.items():
            yield f.variant(f"field: {name} as {label}", f.token(transaction(**{name: value})))
    for name in ["transactionId", "originalTransactionId", "productId", "purchaseDate"]:
        yield f.variant(f"field: {name} absent", f.token(transaction(**{name: ...})))
    yield f.variant("field: signedDate absent", f.token(transaction(signedDate=...)))
    yield f.variant(
        "field: app transaction without a creation date",
        f.token(app_transaction(receiptCreationDate=...)),
        "app transaction",
    )
    yield f.variant(
        "field: NUL in the transaction id", f.token(transaction(transactionId="1\0002"))
    )
    yield f.variant("field: NUL in the bundle id", f.token(transaction(bundleId=BUNDLE_ID + "\0")))
    for label, value in {
        "upper case": "3B9D5F10-7C2E-4D84-B6A1-0E5F7A9C3D8F",
        "short": "3b9d5f10",
        "braces": "{3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f}",
        "no UUID": "user-7",
        "empty": "",
        "no hyphens": "3b9d5f107c2e4d84b6a10e5f7a9c3d8f",
    }.items():
        yield f.variant(
            f"field: appAccountToken {label}", f.token(transaction(appAccountToken=value))
        )
    for name, value in {"exp": 1, "nbf": 9_999_999_999, "iat": 9_999_999_999, "aud": "x"}.items():
        yield f.variant(f"field: {name} of a JWT", f.token(transaction(**{name: value})))
    yield f.variant(
        "field: renewal info of texts for numbers",
        f.token(renewal_info(autoRenewStatus="1")),
        "renewal info",
    )


def notifications(f: Factory) -> Iterator[Variant]:
    inner = f.token().text()
    forged = f.under(f.twin).text()
    other = f.token(transaction(bundleId="com.example.other")).text()
    production = f.token(transaction(environment="Production")).text()
    altered = inner[:-6] + ("A" if inner[-6] != "A" else "B") + inner[-5:]
    info = f.under(f.twin, renewal_info()).text()
    for label, content in {
        "inner transaction forged": {"signedTransactionInfo": forged},
        "inner transaction altered": {"signedTransactionInfo": altered},
        "inner transaction of another app": {"signedTransactionInfo": other},
        "inner transaction of another environment": {"signedTransactionInfo": production},
        "inner transaction no JWS": {"signedTransactionInfo": "a.b.c"},
        "inner transaction a renewal info": {
            "signedTransactionInfo": f.token(renewal_info()).text()
        },
        "inner renewal info forged": {"signedRenewalInfo": info},
        "inner transaction a number": {"signedTransactionInfo": 7},
        "status text": {"status": "1"},
    }.items():
        yield f.variant(
            f"notification: {label}", f.token(notification(data=data(**content))), "notification"
        )
    for label, changes in {
        "data and summary": {"summary": data()},
        "neither data nor summary": {"data": ...},
        "data null": {"data": None},
        "data an array": {"data": []},
        "no UUID": {"notificationUUID": ...},
        "no type": {"notificationType": ...},
        "a new type": {"notificationType": "NEW_TYPE"},
        "a new member instead of data": {"data": ..., "news": data()},
    }.items():
        yield f.variant(f"notification: {label}", f.token(notification(**changes)), "notification")
    parts = f.token(notification()).parts()
    changed = f.token(notification(notificationType="REFUND")).parts()
    yield f.variant(
        "notification: another payload under its signature",
        ".".join([parts[0], changed[1], parts[2]]),
        "notification",
    )


def signatures(f: Factory) -> Iterator[Variant]:
    header, payload, signature = f.token().parts()
    raw = base64.urlsafe_b64decode(signature + "==")
    r, s = raw[:32], raw[32:]
    order = ORDER.to_bytes(32, "big")
    high = (ORDER - int.from_bytes(s, "big")).to_bytes(32, "big")
    zero = bytes(32)
    der = f.own.leaf.key.sign(f"{header}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))
    for label, value in {
        "n - s for s": r + high,
        "r zero": zero + s,
        "s zero": r + zero,
        "r the order": order + s,
        "s the order": r + order,
        "all zero": zero + zero,
        "all ones": b"\xff" * 64,
        "63 bytes": raw[:-1],
        "65 bytes": raw + b"\0",
        "in DER": der,
        "swapped": s + r,
        "one bit other": raw[:-1] + bytes([raw[-1] ^ 1]),
        "of the payload alone": raw_signature(f.own.leaf.key, payload.encode()),
        "of another key": raw_signature(f.twin.leaf.key, f"{header}.{payload}".encode()),
        "of the intermediate's key": raw_signature(
            f.own.intermediate.key, f"{header}.{payload}".encode()
        ),
    }.items():
        yield f.variant(f"signature: {label}", ".".join([header, payload, base64url(value)]))
    other = f.token(transaction(productId="com.example.scribe.pro.yearly")).parts()
    yield f.variant("signature: of another payload", ".".join([header, other[1], signature]))


def certificates(f: Factory) -> Iterator[Variant]:
    yield f.variant("certificate: an authority that nobody named", f.under(f.twin))
    names = Authority.make(replace(ROOT, common_name="Apple Root CA - G3"))
    yield f.variant("certificate: a root with Apple's name", f.under(names))
    unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
    constraints = x509.NameConstraints([x509.DNSName("example.com")], None)
    code_signing = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CODE_SIGNING])
    shapes = {
        "leaf without its mark": {"leaf": replace(LEAF, mark=None)},
        "intermediate without its mark": {"intermediate": replace(INTERMEDIATE, mark=None)},
        "marks swapped": {
            "leaf": replace(LEAF, mark=INTERMEDIATE_MARK),
            "intermediate": replace(INTERMEDIATE, mark=LEAF_MARK),
        },
        "leaf on P-384": {"leaf": replace(LEAF, curve=ec.SECP384R1())},
        "leaf an authority": {"leaf": replace(LEAF, is_authority=True)},
        "leaf that may issue certificates": {"leaf": replace(LEAF, is_authority=True, issues=True)},
        "leaf without key usage": {"leaf": replace(LEAF, key_usage=False)},
        "leaf with the usage of an authority": {"leaf": replace(LEAF, issues=True)},
        "intermediate no authority": {
            "intermediate": replace(INTERMEDIATE, is_authority=False, path_length=None)
        },
        "intermediate without usage": {"intermediate": replace(INTERMEDIATE, issues=False)},
        "root no authority": {"root": replace(ROOT, is_authority=False)},
        "root with path length 0": {"root": replace(ROOT, path_length=0)},
        "root with path length 1": {"root": replace(ROOT, path_length=1)},
        "leaf with an unknown critical extension": {
            "leaf": replace(LEAF, extensions=((unknown, True),))
        },
        "leaf with an unknown extension": {"leaf": replace(LEAF, extensions=((unknown, False),))},
        "leaf with a critical extended usage": {
            "leaf": replace(LEAF, extensions=((code_signing, True),))
        },
        "intermediate with critical name constraints": {
            "intermediate": replace(INTERMEDIATE, extensions=((constraints, True),))
        },
        "root with an unknown critical extension": {
            "root": replace(ROOT, extensions=((unknown, True),))
        },
        "intermediate on P-256": {"intermediate": replace(INTERMEDIATE, curve=ec.SECP256R1())},
    }
    for label, shape in shapes.items():
        authority = Authority.make(**shape)
        yield f.variant(f"certificate: {label}", f.under(authority), roots=(authority.root.der,))
    own, twin = f.own.chain, f.twin.chain
    both = (f.own.root.der, f.twin.root.der)
    for label, chain, key in [
        ("leaf of another authority", [twin[0], *own[1:]], f.twin.leaf.key),
        ("intermediate of another authority", [own[0], twin[1], own[2]], f.own.leaf.key),
        ("root of another authority", [*own[:2], twin[2]], f.own.leaf.key),
    ]:
        yield f.variant(
            f"certificate: {label}, both named", f.token(chain=chain, key=key), roots=both
        )
    for index, label in enumerate(["leaf", "intermediate", "root"]):
        for change, alter in {
            "altered": lambda c: c[:-1] + bytes([c[-1] ^ 1]),
            "with a byte more": lambda c: c + b"\0",
            "with a byte less": lambda c: c[:-1],
            "empty": lambda c: b"",
            "in BER, a longer length": lambda c: b"\x30\x83\x00" + c[2:4] + c[4:],
            "in BER, without a length": lambda c: b"\x30\x80" + c[4:] + b"\0\0",
        }.items():
            chain = list(own)
            chain[index] = alter(chain[index])
            yield f.variant(f"certificate: {label} {change}", f.token(chain=chain))


GROUPS = [texts, headers, payloads, fields, notifications, signatures, certificates]
