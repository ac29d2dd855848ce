"""The variants that both sides verify: genuine payloads, and payloads with each fault."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cryptography.hazmat.primitives.asymmetric import ec

from authority import INTERMEDIATE, LEAF, LOCAL, ROOT, WIDE, Authority, Member, Token, issue

BUNDLE_ID = "com.example.scribe"
APP_APPLE_ID = 1234567890
# 2024-01-01T00:00:00Z.
SIGNED = 1_704_067_200_000


@dataclass(frozen=True)
class Variant:
    name: str
    text: str
    kind: str
    # Roots in DER that both sides trust; Apple's library gets only these.
    roots: tuple[bytes, ...]
    environment: str = "Sandbox"
    bundle_id: str = BUNDLE_ID
    app_apple_id: int = APP_APPLE_ID


def transaction(**changes: object) -> dict:
    return _payload(
        {
            "transactionId": "2000000123456790",
            "originalTransactionId": "2000000123456789",
            "bundleId": BUNDLE_ID,
            "productId": "com.example.scribe.pro.monthly",
            "type": "Auto-Renewable Subscription",
            "purchaseDate": SIGNED - 60_000,
            "originalPurchaseDate": SIGNED - 60_000,
            "expiresDate": SIGNED + 2_592_000_000,
            "quantity": 1,
            "inAppOwnershipType": "PURCHASED",
            "signedDate": SIGNED,
            "environment": "Sandbox",
        },
        changes,
    )


def renewal_info(**changes: object) -> dict:
    return _payload(
        {
            "originalTransactionId": "2000000123456789",
            "productId": "com.example.scribe.pro.monthly",
            "autoRenewProductId": "com.example.scribe.pro.monthly",
            "autoRenewStatus": 1,
            "signedDate": SIGNED,
            "environment": "Sandbox",
        },
        changes,
    )


def app_transaction(**changes: object) -> dict:
    return _payload(
        {
            "receiptType": "Sandbox",
            "bundleId": BUNDLE_ID,
            "appAppleId": APP_APPLE_ID,
            "applicationVersion": "7",
            "receiptCreationDate": SIGNED,
            "originalPurchaseDate": SIGNED - 86_400_000,
            "originalApplicationVersion": "1.0",
            "appTransactionId": "704000000000000001",
        },
        changes,
    )


def notification(**changes: object) -> dict:
    return _payload(
        {
            "notificationType": "DID_RENEW",
            "notificationUUID": "b1f0c6d2-4a37-4e59-8c1b-6d2f9e8a7054",
            "version": "2.0",
            "signedDate": SIGNED,
            "data": data(),
        },
        changes,
    )


def data(**changes: object) -> dict:
    return _payload(
        {
            "bundleId": BUNDLE_ID,
            "appAppleId": APP_APPLE_ID,
            "environment": "Sandbox",
            "status": 1,
        },
        changes,
    )


def _payload(members: dict, changes: dict) -> dict:
    """With members replaced; `...` removes one."""
    return {name: value for name, value in (members | changes).items() if value is not ...}


PAYLOADS = {
    "transaction": transaction,
    "renewal info": renewal_info,
    "app transaction": app_transaction,
    "notification": notification,
}


class Factory:
    """Creates variants under one authority that both sides trust."""

    def __init__(self) -> None:
        self.own = Authority.make()
        self.twin = Authority.make()
        self.local = issue(LOCAL)

    def token(self, payload: dict | str | bytes | None = None, **changes: object) -> Token:
        content = transaction() if payload is None else payload
        return Token(content, self.own.chain, self.own.leaf.key).changed(**changes)

    def under(self, authority: Authority, payload: dict | None = None) -> Token:
        return Token(payload or transaction(), authority.chain, authority.leaf.key)

    def alone(self, member: Member, payload: dict) -> Token:
        return Token(payload, [member.der], member.key).changed(
            more={"kid": "Apple_Xcode_Key", "typ": "JWT"}
        )

    def variant(
        self, name: str, token: Token | str, kind: str = "transaction", **changes: object
    ) -> Variant:
        text = token if isinstance(token, str) else token.text()
        settings: dict = {"roots": (self.own.root.der,)} | changes
        return Variant(name, text, kind, **settings)


def members(payload: dict) -> str:
    """The members as JSON text, without the braces."""
    return json.dumps(payload, separators=(",", ":"))[1:-1]


def genuine(f: Factory) -> Iterator[Variant]:
    for kind, payload in PAYLOADS.items():
        yield f.variant(f"genuine: {kind}", f.token(payload()), kind)
        again = Authority.make()
        yield f.variant(
            f"genuine: {kind} of another authority",
            f.under(again, payload()),
            kind,
            roots=(f.own.root.der, again.root.der),
        )
    for type in ["Non-Consumable", "Consumable", "Non-Renewing Subscription", "Season Pass"]:
        yield f.variant(f"genuine: {type}", f.token(transaction(type=type)))
    for name, value in {
        "appAccountToken": "3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f",
        "isUpgraded": True,
        "revocationDate": SIGNED,
        "offerType": 2,
        "price": 4990,
        "fieldOfTheFuture": {"deep": [1, None]},
        "inAppOwnershipType": "LENT",
        "expiresDate": ...,
    }.items():
        yield f.variant(f"genuine: {name}", f.token(transaction(**{name: value})))
    for subject in ["summary", "externalPurchaseToken", "appData"]:
        content = data(externalPurchaseId="SANDBOX_1") if subject[0] == "e" else data()
        yield f.variant(
            f"genuine: notification with {subject}",
            f.token(notification(data=..., **{subject: content})),
            "notification",
        )
    inner = f.token().text()
    info = f.token(renewal_info()).text()
    yield f.variant(
        "genuine: notification with both inner payloads",
        f.token(notification(data=data(signedTransactionInfo=inner, signedRenewalInfo=info))),
        "notification",
    )
    yield f.variant("genuine: header with kid", f.token(more={"kid": "1", "typ": "JWT"}))
    yield f.variant(
        "genuine: header with other members", f.token(more={"jku": "https://a.example"})
    )
    spaced = json.dumps(transaction(), indent=2)
    yield f.variant("genuine: payload with white space", f.token(f"\n{spaced}\n"))


def apps_and_environments(f: Factory) -> Iterator[Variant]:
    for kind, payload in PAYLOADS.items():
        if kind != "renewal info":
            yield f.variant(
                f"app: {kind} of another bundle id",
                f.token(payload()),
                kind,
                bundle_id="com.example.other",
            )
        for environment in ["Production", "Xcode", "LocalTesting"]:
            yield f.variant(
                f"environment: {kind} of Sandbox where {environment} is accepted",
                f.token(payload()),
                kind,
                environment=environment,
            )
    for value in ["sandbox", "Staging", "", ..., None]:
        shown = "absent" if value is ... else json.dumps(value)
        yield f.variant(
            f"environment: transaction with {shown}", f.token(transaction(environment=value))
        )
        yield f.variant(
            f"environment: renewal info with {shown}",
            f.token(renewal_info(environment=value)),
            "renewal info",
        )
        yield f.variant(
            f"environment: app transaction with {shown}",
            f.token(app_transaction(receiptType=value)),
            "app transaction",
        )
    yield f.variant("app: no bundle id", f.token(transaction(bundleId=...)))
    yield f.variant(
        "app: bundle id in another case", f.token(transaction(bundleId=BUNDLE_ID.upper()))
    )
    for kind in ["app transaction", "notification"]:
        for value, label in [(APP_APPLE_ID, "right"), (1, "other"), (0, "0"), (..., "absent")]:
            for environment in ["Production", "Sandbox"]:
                content = (
                    app_transaction(receiptType=environment, appAppleId=value)
                    if kind == "app transaction"
                    else notification(data=data(environment=environment, appAppleId=value))
                )
                yield f.variant(
                    f"app: {kind} of {environment}, app Apple id {label}",
                    f.token(content),
                    kind,
                    environment=environment,
                )
    token = data(externalPurchaseId="ABC", environment=...)
    yield f.variant(
        "app: external purchase token of Production",
        f.token(notification(data=..., externalPurchaseToken=token)),
        "notification",
        environment="Production",
    )


def dates(f: Factory) -> Iterator[Variant]:
    first = datetime.datetime(2023, 6, 1, tzinfo=datetime.timezone.utc)
    last = datetime.datetime(2024, 6, 1, tzinfo=datetime.timezone.utc)
    shapes = {
        "leaf": {"leaf": (first, last)},
        "intermediate": {"intermediate": (first, last)},
        "root": {"root": (first, last)},
    }
    for label, validity in shapes.items():
        authority = authority_valid(**validity)
        for boundary, moment, steps in [
            ("first moment", first, (-1000, -1, 0)),
            ("last moment", last, (0, 1, 999, 1000)),
        ]:
            for step in steps:
                signed = int(moment.timestamp() * 1000) + step
                yield f.variant(
                    f"date: {label} certificate, {step:+d} ms from its {boundary}",
                    f.under(authority, transaction(signedDate=signed)),
                    roots=(authority.root.der,),
                )
    authority = authority_valid(leaf=(first, last))
    for name, payload, kind in [
        (
            "transaction without a date, certificate expired today",
            transaction(signedDate=...),
            "transaction",
        ),
        (
            "notification without a date, certificate expired today",
            notification(signedDate=...),
            "notification",
        ),
        ("app transaction within its creation date", app_transaction(), "app transaction"),
        (
            "app transaction with a signedDate after the certificate's end",
            app_transaction(signedDate=int(last.timestamp() * 1000) + 86_400_000),
            "app transaction",
        ),
        (
            "app transaction of today's creation date",
            app_transaction(receiptCreationDate=int(last.timestamp() * 1000) + 86_400_000),
            "app transaction",
        ),
    ]:
        yield f.variant(
            f"date: {name}", f.under(authority, payload), kind, roots=(authority.root.der,)
        )
    yield f.variant(
        "date: notification without a date", f.token(notification(signedDate=...)), "notification"
    )
    for value in [0, -1, 9_223_372_036_854_775_807, -9_223_372_036_854_775_808]:
        yield f.variant(f"date: signedDate {value}", f.token(transaction(signedDate=value)))


def authority_valid(**validity: tuple[datetime.datetime, datetime.datetime]) -> Authority:
    return Authority.make(
        replace(ROOT, validity=validity.get("root", WIDE)),
        replace(INTERMEDIATE, validity=validity.get("intermediate", WIDE)),
        replace(LEAF, validity=validity.get("leaf", WIDE)),
    )


def local_environments(f: Factory) -> Iterator[Variant]:
    named = (f.local.der,)
    stranger = issue(LOCAL)
    for environment in ["Xcode", "LocalTesting"]:
        content = {
            "transaction": transaction(environment=environment),
            "renewal info": renewal_info(environment=environment),
            "app transaction": app_transaction(receiptType=environment),
        }
        for kind, payload in content.items():
            label = f"local: {kind} of {environment}"
            settings = {"kind": kind, "environment": environment}
            yield f.variant(
                f"{label}, named certificate", f.alone(f.local, payload), roots=named, **settings
            )
            yield f.variant(
                f"{label}, a stranger's certificate",
                f.alone(stranger, payload),
                roots=named,
                **settings,
            )
            yield f.variant(
                f"{label}, signed by another key",
                f.alone(f.local, payload).changed(key=ec.generate_private_key(ec.SECP256R1())),
                roots=named,
                **settings,
            )
            yield f.variant(
                f"{label}, three certificates of a named root", f.token(payload), **settings
            )
            yield f.variant(
                f"{label}, three certificates of a stranger", f.under(f.twin, payload), **settings
            )
        payload = transaction(environment=environment)
        yield f.variant(
            f"local: no certificate at all, {environment}",
            f.token(payload, x5c=None),
            environment=environment,
        )
        yield f.variant(
            f"local: alg none, {environment}", f.token(payload, alg="none"), environment=environment
        )
        yield f.variant(
            f"local: another app, {environment}",
            f.alone(f.local, transaction(environment=environment, bundleId="com.example.other")),
            roots=named,
            environment=environment,
        )
    for environment in ["Sandbox", "Production"]:
        yield f.variant(
            f"local: {environment} under a named certificate alone",
            f.alone(f.local, transaction(environment=environment)),
            roots=named,
            environment=environment,
        )


GROUPS = [genuine, apps_and_environments, dates, local_environments]
