"""Reasons why a verdict differs from that of Apple's library and is right."""

from __future__ import annotations

from fnmatch import fnmatchcase

# The documentation has these sentences, in this order.
REASONS = {
    "third": (
        "Apple's library never checks the third certificate: any bytes are accepted. Here it "
        "must be a trusted root."
    ),
    "local": (
        "For the environments Xcode and LocalTesting, Apple's library skips all checks, "
        "including the signature: anyone can write such a payload. Here it must be signed under "
        "a root that the operator configured."
    ),
    "alone": (
        "The operator configured the single certificate as a root, so the chain is valid. Only "
        "the environment is wrong."
    ),
    "duplicate": (
        "Duplicate names: Python uses the last one, other readers the first one. A payload that "
        "two readers can read differently is refused."
    ),
    "json": (
        "Not JSON (RFC 8259), or not in UTF-8 (RFC 7515 section 3), but accepted by Python's "
        "reader: a byte order mark, UTF-16, NaN, Infinity, halves of surrogate pairs."
    ),
    "base64": (
        "Padding or the other alphabet in a segment (RFC 7515 section 2 allows neither): one "
        "payload would have several texts."
    ),
    "type": (
        "A field has another JSON type than Apple documents. Apple's library passes it on "
        "unchanged or converts it (a fraction is cut off, text becomes a number). Here it is "
        "refused, because its meaning is in doubt."
    ),
    "range": (
        "An integer does not fit 64 bits."
    ),
    "required": (
        "Without the field there is no fact to store, or the kind is unknown. Apple's library "
        "returns None and leaves the check to the caller."
    ),
    "nul": (
        "An id contains a NUL: code that handles it as a C string would cut it short to another "
        "id."
    ),
    "inner": (
        "Apple's library does not verify signed payloads inside a notification; the caller must "
        "do so. Here they are verified too, and must have the same app and environment."
    ),
    "subject": (
        "Exactly one member is the subject of a notification. Apple's library takes the first of "
        "four, and without any reports a wrong app."
    ),
    "future": (
        "An unknown kind of notification is stored for its app and environment (R10). Apple's "
        "library finds no app in it."
    ),
    "claims": (
        "Apple documents no `exp`, `nbf`, `iat` or `aud` in these payloads, but the JWT library "
        "inside Apple's library interprets them. Here unknown fields are ignored (R10)."
    ),
    "kid": (
        "Apple does not document `kid`, and it selects no key: it is ignored (R10)."
    ),
    "b64": (
        "`crit` and `b64` change what is signed or must be understood. Apple signs neither, so "
        "no form of them is accepted."
    ),
    "usage": (
        "Apple's library does not check the basic constraints and key usage of the leaf. Here "
        "the leaf must not be an authority and must allow signing (RFC 5280 section 4.2.1)."
    ),
    "critical": (
        "A critical extension that the verifier does not check and that no certificate of Apple "
        "has: refused (RFC 5280 section 4.2). In Apple's library, OpenSSL accepts it without a "
        "check of its purpose."
    ),
    "encoding": (
        "A certificate is in BER, or has trailing bytes. Here each certificate has one encoding, "
        "and so one fingerprint."
    ),
    "end": (
        "Moments after the last second of a certificate: Apple's library cuts off milliseconds "
        "first. Here a certificate ends with its last moment (RFC 5280 section 4.1.2.5)."
    ),
    "creation": (
        "Here the verification time of an app transaction is its `receiptCreationDate`. Apple's "
        "library prefers a `signedDate`, which Apple documents for the other kinds only."
    ),
    "limits": (
        "Deeper or longer than anything that Apple signs: see the limits. The detail names the "
        "limit; Apple's library has none."
    ),
    "digits": (
        "A field that is not read may contain any JSON (R10), including a number of 5,000 "
        "digits. Python refuses numbers of more than 4,300 digits."
    ),
}

# Names of variants by the reason of their difference; `*` matches any text.
_PATTERNS = {
    "third": (
        "x5c: intermediate for root",
        "x5c: leaf for root",
        "x5c: root of another authority",
        "x5c: * in third place",
        "certificate: root of another authority, both named",
        "certificate: root altered",
        "certificate: root with a byte *",
        "certificate: root empty",
        "certificate: root in BER, *",
    ),
    "local": (
        "local: *, a stranger's certificate",
        "local: *, signed by another key",
        "local: *, three certificates of a stranger",
        "local: no certificate at all, *",
        "local: alg none, *",
    ),
    "alone": ("local: * under a named certificate alone",),
    "duplicate": (
        "header: alg twice*",
        "header: x5c twice",
        "header: an unknown member twice",
        "payload: *name twice",
        "payload: bundle id twice*",
        "payload: environment twice, escaped",
    ),
    "json": (
        "header: byte order mark",
        "payload: byte order mark",
        "payload: NaN",
        "payload: Infinity",
        "payload: lone surrogate",
        "payload: UTF-16",
        "payload: a surrogate in UTF-8",
    ),
    "base64": (
        "text: padding after the signature",
        "text: payload in standard base64, signed so",
        "text: payload with padding, signed so",
    ),
    "type": (
        "field: signedDate as 1.0",
        "field: signedDate as 1e3",
        "field: signedDate as fraction",
        "field: signedDate as text",
        "field: quantity as 1*",
        "field: quantity as text",
        "field: quantity as true",
        "field: quantity as an array",
        "field: isUpgraded as *",
        "field: transactionId as *",
        "field: productId as *",
        "field: type as *",
        "field: storefront as *",
        "field: bundleId as *",
        "field: environment as *",
        "field: renewal info of texts for numbers",
        "notification: inner transaction a number",
        "notification: status text",
        "notification: data an array",
    ),
    "range": ("field: quantity as beyond 64 bits",),
    "required": (
        "payload: empty object",
        "field: transactionId absent",
        "field: originalTransactionId absent",
        "field: productId absent",
        "field: purchaseDate absent",
        "field: signedDate absent",
        "field: app transaction without a creation date",
        "notification: no UUID",
        "notification: no type",
    ),
    "nul": ("field: NUL in *",),
    "inner": (
        "notification: inner transaction forged",
        "notification: inner transaction altered",
        "notification: inner transaction of another *",
        "notification: inner transaction no JWS",
        "notification: inner transaction a renewal info",
        "notification: inner renewal info forged",
    ),
    "subject": (
        "notification: data and summary",
        "notification: neither data nor summary",
        "notification: data null",
    ),
    "future": ("notification: a new member instead of data",),
    "claims": ("field: * of a JWT",),
    "kid": ("header: kid a number",),
    "b64": ("header: crit b64", "header: b64 true"),
    "usage": (
        "certificate: leaf an authority",
        "certificate: leaf that may issue certificates",
        "certificate: leaf without key usage",
    ),
    "critical": (
        "certificate: leaf with a critical extended usage",
        "certificate: intermediate with critical name constraints",
    ),
    "encoding": (
        "certificate: leaf with a byte more",
        "certificate: intermediate with a byte more",
        "certificate: leaf in BER, *",
        "certificate: intermediate in BER, *",
    ),
    "end": (
        "date: * certificate, +1 ms from its last moment",
        "date: * certificate, +999 ms from its last moment",
    ),
    "creation": ("date: app transaction with a signedDate after the certificate's end",),
    "limits": ("payload: nested 64 deep", "payload: 250 kB of an unread text"),
    "digits": ("payload: an unread number of 5000 digits",),
}


def reason_of(name: str) -> str | None:
    """The key of the reason for this variant's different verdict."""
    for reason, patterns in _PATTERNS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return None


def unused_patterns(names: list[str]) -> list[str]:
    """Obsolete patterns, which match no variant."""
    return [
        pattern
        for patterns in _PATTERNS.values()
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
