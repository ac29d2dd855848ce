"""Why a verdict here differs from that of Apple's library, and is right."""

from __future__ import annotations

from fnmatch import fnmatchcase

# The sentences stand in the documentation, in this order.
REASONS = {
    "third": (
        "The third certificate is never looked at there: any bytes will do. Here it is the root"
        " that is judged."
    ),
    "local": (
        "There the environments Xcode and LocalTesting switch off every check, the signature's "
        "too: anybody can write such a payload. Here it is signed under a root that the "
        "operator named."
    ),
    "alone": (
        "The certificate alone is one that the operator named, so the chain is right, and the "
        "environment is what is wrong with it."
    ),
    "duplicate": (
        "Names that occur twice: the last one counts there, the first one in other readers. "
        "What two readers may read in two ways is refused."
    ),
    "json": (
        "Not JSON (RFC 8259), or not in UTF-8 (RFC 7515 section 3), though Python's reader "
        "takes it: a byte order mark, UTF-16, NaN, Infinity, halves of surrogate pairs."
    ),
    "base64": (
        "Padding or the other alphabet in a segment (RFC 7515 section 2 allows neither): one "
        "payload would have several texts."
    ),
    "type": (
        "A field of another JSON type than Apple documents: passed on as it is there, or turned"
        " into another one (a half is cut off, text becomes a number). Here its meaning is in "
        "doubt."
    ),
    "range": (
        "An integer that does not fit 64 bits."
    ),
    "required": (
        "Without the field there is no fact to keep, or no kind to tell. There it is None, and "
        "left to the caller."
    ),
    "nul": (
        "A NUL in an id: what handles it as C text would cut it short to another id."
    ),
    "inner": (
        "There a signed payload inside a notification is left as it came, for the caller to "
        "verify. Here it is verified too, and must be of the same app and environment."
    ),
    "subject": (
        "Exactly one member says what a notification is about. There the first of four is "
        "taken, and without any of them the app is what is wrong."
    ),
    "future": (
        "A notification that is not known yet is kept for its app and environment (R10); there "
        "it has no app."
    ),
    "claims": (
        "Apple documents no `exp`, `nbf`, `iat` or `aud` in these payloads; there the library "
        "for JWT beneath reads them as its own. Fields that are not known are passed over here "
        "(R10)."
    ),
    "kid": (
        "`kid` is no part of what Apple documents, and chooses nothing: it is passed over "
        "(R10)."
    ),
    "b64": (
        "`crit` and `b64` change what is signed or must be understood. Apple signs neither, so "
        "nothing is gained by accepting a form of them."
    ),
    "usage": (
        "The leaf's basic constraints and key usage are not looked at there. Here it is no "
        "authority, and states that it signs data (RFC 5280 section 4.2.1)."
    ),
    "critical": (
        "A critical extension that is not judged here, and in none of Apple's certificates: "
        "refused (RFC 5280 section 4.2). There OpenSSL knows it, and its purpose is not asked "
        "for."
    ),
    "encoding": (
        "A certificate in BER, or with bytes after it: each has one text here, and so one "
        "fingerprint."
    ),
    "end": (
        "The moments after the last second of a certificate: there milliseconds are cut off "
        "first. A certificate is valid through its last moment (RFC 5280 section 4.1.2.5), "
        "which ends it here."
    ),
    "creation": (
        "An app transaction is judged at its `receiptCreationDate`; there a `signedDate`, which"
        " Apple documents for the other kinds only, comes before it."
    ),
    "limits": (
        "Deeper or longer than anything that Apple signs: see the limits. What is wrong is "
        "said, where there nobody bounds it."
    ),
    "digits": (
        "A field that is not read may hold any JSON (R10), a number of 5,000 digits too; Python"
        " refuses to read one of more than 4,300."
    ),
}

# Names of variants by the reason for their difference; `*` stands for any text.
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
    """The key of the reason for which this variant's verdict is known to differ."""
    for reason, patterns in _PATTERNS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return None


def unused_patterns(names: list[str]) -> list[str]:
    """Patterns that name no variant: left behind by a change."""
    return [
        pattern
        for patterns in _PATTERNS.values()
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
