#!/usr/bin/env python3
"""Verifies signed offers as Apple's pages say, with nothing of the product but the key.

Usage: verify_offers.py PUBLIC_KEY.pem < CASES

"Generating a signature for promotional offers" (V1) and "Generating JWS to sign App Store requests" (V2).
Each line of CASES is a JSON object:

  form             v1, v2 or introductory
  bundleId, keyId, issuerId, productId
  offerId          of v1 and v2
  appAccountToken  of v1; may be absent
  transactionId    of v2, where it may be absent, and of introductory
  allowed          of introductory
  from, until      the moments, in milliseconds, between which it was signed
  answer           the SignOfferResponse, in its JSON form

openssl checks the signatures. Each must also fail for a text in which one byte differs. Prints the number of
verified offers; exit code 1 with the first fault.
"""

import base64
import json
import re
import subprocess
import sys
import tempfile

SEPARATOR = "\u2063"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DAY = 24 * 60 * 60 * 1000
nonces = set()


def check(condition, fault):
    if not condition:
        raise AssertionError(fault)


def verifies(key, text, signature):
    """Whether a signature in DER is that of the text: ECDSA with SHA-256."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        command = ["openssl", "dgst", "-sha256", "-verify", key, "-signature", file.name]
        return subprocess.run(command, input=text, capture_output=True, check=False).returncode == 0


def check_signature(key, text, signature):
    check(verifies(key, text, signature), "the signature does not verify")
    changed = bytearray(text)
    changed[len(changed) // 2] ^= 1
    check(not verifies(key, bytes(changed), signature), "the signature verifies for another text")


def integer(number):
    """An INTEGER of DER: the shortest form, with a zero before a set sign bit."""
    length = number.bit_length() // 8 + 1
    return bytes([2, length]) + number.to_bytes(length, "big")


def der(raw):
    check(len(raw) == 64, f"the signature of a JWS has {len(raw)} bytes")
    body = integer(int.from_bytes(raw[:32], "big")) + integer(int.from_bytes(raw[32:], "big"))
    return bytes([0x30, len(body)]) + body


def base64url(text):
    check(re.fullmatch(r"[A-Za-z0-9_-]+", text), "not base64url without padding")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    check(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "not the only encoding")
    return data


def unique(pairs):
    names = [name for name, _ in pairs]
    check(len(names) == len(set(names)), "a member occurs twice")
    return dict(pairs)


def check_v1(key, case, answer, timestamp):
    token = case.get("appAccountToken", "")
    fields = [case["bundleId"], case["keyId"], case["productId"], case["offerId"], token.lower(),
              answer["nonce"], str(timestamp)]
    signature = base64.b64decode(answer["signature"], validate=True)
    check_signature(key, SEPARATOR.join(fields).encode(), signature)
    check(int(answer["expiresAtMs"]) == timestamp + DAY, "valid for 24 hours")


def check_jws(key, case, answer, timestamp, audience, claims):
    parts = answer["signature"].split(".")
    check(len(parts) == 3, "three parts")
    header = json.loads(base64url(parts[0]), object_pairs_hook=unique)
    check(header == {"alg": "ES256", "kid": case["keyId"], "typ": "JWT"}, f"the header {header}")
    payload = json.loads(base64url(parts[1]), object_pairs_hook=unique)
    claims |= {"iss": case["issuerId"], "iat": timestamp // 1000, "aud": audience,
               "bid": case["bundleId"], "nonce": answer["nonce"], "productId": case["productId"]}
    check(payload == claims, f"the claims {payload}, not {claims}")
    check(type(payload["iat"]) is int, "iat is a whole number")
    check(timestamp % 1000 == 0, "a JWS has whole seconds")
    check("expiresAtMs" not in answer, "Apple states no end of a JWS")
    check_signature(key, ".".join(parts[:2]).encode(), der(base64url(parts[2])))


def verify(key, case):
    answer = case["answer"]
    nonce, timestamp = answer["nonce"], int(answer["timestampMs"])
    check(UUID.fullmatch(nonce), "the nonce is a UUID in lower case")
    check(nonce not in nonces, "a nonce is used once")
    nonces.add(nonce)
    check(answer["keyId"] == case["keyId"], "the key")
    # A JWS has whole seconds.
    check(case["from"] - 999 <= timestamp <= case["until"], f"signed at {timestamp}")
    transaction = {"transactionId": case["transactionId"]} if "transactionId" in case else {}
    if case["form"] == "v1":
        check_v1(key, case, answer, timestamp)
    elif case["form"] == "v2":
        claims = {"offerIdentifier": case["offerId"]} | transaction
        check_jws(key, case, answer, timestamp, "promotional-offer", claims)
    else:
        check(answer.get("allowIntroductoryOffer", False) is case["allowed"], "what the answer says")
        claims = {"allowIntroductoryOffer": case["allowed"], "transactionId": case["transactionId"]}
        check_jws(key, case, answer, timestamp, "introductory-offer-eligibility", claims)


def main():
    count = 0
    for line in sys.stdin:
        case = json.loads(line)
        try:
            verify(sys.argv[1], case)
        except (AssertionError, KeyError, ValueError) as fault:
            sys.exit(f"case {count + 1}, {case['form']}: {fault}")
        count += 1
    print(f"{count} offers verified")


if __name__ == "__main__":
    main()
