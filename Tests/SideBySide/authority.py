"""A certificate authority like Apple's, for tests: valid, or with one fault."""

from __future__ import annotations

import base64
import datetime
import json
from dataclasses import dataclass, field, replace

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

LEAF_MARK = "1.2.840.113635.100.6.11.1"
INTERMEDIATE_MARK = "1.2.840.113635.100.6.2.1"

UTC = datetime.timezone.utc
WIDE = (datetime.datetime(2008, 7, 10, tzinfo=UTC), datetime.datetime(2099, 12, 31, tzinfo=UTC))


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def name(text: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, text),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Not for production"),
        ]
    )


def usage(certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=certificates,
        crl_sign=certificates,
        encipher_only=False,
        decipher_only=False,
    )


@dataclass(frozen=True)
class Shape:
    """The parameters of one certificate."""

    common_name: str
    curve: ec.EllipticCurve
    is_authority: bool
    path_length: int | None = None
    issues: bool | None = None
    mark: str | None = None
    validity: tuple[datetime.datetime, datetime.datetime] = WIDE
    key_usage: bool = True
    key_identifiers: bool = True
    extensions: tuple[tuple[x509.ExtensionType, bool], ...] = ()


ROOT = Shape("Side by side: root", ec.SECP384R1(), True, issues=True)
INTERMEDIATE = Shape(
    "Side by side: intermediate", ec.SECP384R1(), True, 0, issues=True, mark=INTERMEDIATE_MARK
)
LEAF = Shape("Side by side: leaf", ec.SECP256R1(), False, issues=False, mark=LEAF_MARK)
# The certificate of StoreKit Testing in Xcode: a CA certificate that only signs data.
LOCAL = Shape("Side by side: local", ec.SECP256R1(), True, 0, issues=False, key_identifiers=False)


@dataclass(frozen=True)
class Member:
    """A certificate with its key."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)


def issue(shape: Shape, issuer: Member | None = None) -> Member:
    key = ec.generate_private_key(shape.curve)
    signer = issuer.key if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(shape.common_name))
        .issuer_name(issuer.certificate.subject if issuer else name(shape.common_name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(shape.validity[0])
        .not_valid_after(shape.validity[1])
        .add_extension(x509.BasicConstraints(shape.is_authority, shape.path_length), critical=True)
    )
    if shape.key_usage:
        builder = builder.add_extension(usage(bool(shape.issues)), critical=True)
    if shape.key_identifiers:
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        ).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
            critical=False,
        )
    if shape.mark:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(shape.mark), b"\x05\x00"),
            critical=False,
        )
    for extension, is_critical in shape.extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    digest = hashes.SHA384() if isinstance(signer.curve, ec.SECP384R1) else hashes.SHA256()
    return Member(key, builder.sign(signer, digest))


@dataclass(frozen=True)
class Authority:
    root: Member
    intermediate: Member
    leaf: Member

    @staticmethod
    def make(
        root: Shape = ROOT, intermediate: Shape = INTERMEDIATE, leaf: Shape = LEAF
    ) -> Authority:
        root_member = issue(root)
        intermediate_member = issue(intermediate, root_member)
        return Authority(root_member, intermediate_member, issue(leaf, intermediate_member))

    @property
    def chain(self) -> list[bytes]:
        return [self.leaf.der, self.intermediate.der, self.root.der]


def raw_signature(key: ec.EllipticCurvePrivateKey, message: bytes) -> bytes:
    r, s = utils.decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
    size = (key.curve.key_size + 7) // 8
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


@dataclass(frozen=True)
class Token:
    """A JWS with any fault. Strings are JSON that Python's `json` cannot write."""

    payload: dict | str | bytes
    chain: list[bytes]
    key: ec.EllipticCurvePrivateKey
    # The members of the header; None removes one, and `raw_header` replaces the whole header.
    alg: object = "ES256"
    x5c: object = field(default=...)
    more: dict = field(default_factory=dict)
    raw_header: str | None = None

    def changed(self, **changes: object) -> Token:
        return replace(self, **changes)

    @property
    def header_bytes(self) -> bytes:
        if self.raw_header is not None:
            return self.raw_header.encode()
        header: dict = {}
        if self.alg is not None:
            header["alg"] = self.alg
        x5c = [base64.b64encode(c).decode() for c in self.chain] if self.x5c is ... else self.x5c
        if x5c is not None:
            header["x5c"] = x5c
        return json.dumps(header | self.more, separators=(",", ":")).encode()

    @property
    def payload_bytes(self) -> bytes:
        if isinstance(self.payload, bytes):
            return self.payload
        if isinstance(self.payload, str):
            return self.payload.encode()
        return json.dumps(self.payload, separators=(",", ":")).encode()

    def parts(self) -> list[str]:
        header, payload = base64url(self.header_bytes), base64url(self.payload_bytes)
        return [header, payload, base64url(raw_signature(self.key, f"{header}.{payload}".encode()))]

    def text(self) -> str:
        return ".".join(self.parts())

    def signed_as_written(self, header: str | None = None, payload: str | None = None) -> str:
        """With other spellings of parts, and a signature of them."""
        parts = self.parts()
        parts[0], parts[1] = header or parts[0], payload or parts[1]
        message = ".".join(parts[:2]).encode()
        return ".".join(parts[:2] + [base64url(raw_signature(self.key, message))])
