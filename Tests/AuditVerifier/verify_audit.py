#!/usr/bin/env python3
"""Verifies an audit trail as deploy/docs/audit.md says, with nothing of the product.

Usage: verify_audit.py ENTRIES SEALS

Reads the output of `entitlectl audit list --output jsonl` and `entitlectl audit seals --output jsonl`,
or as ENTRIES the file of the setting audit_log. Prints the number of entries and seals, and the hash
of the last seal. Exit code 1 with the place of a break.
"""

import hashlib
import json
import sys


def digest(fields):
    data = b""
    for field in fields:
        text = str(field).encode()
        data += len(text).to_bytes(4, "big") + text
    return hashlib.sha256(data).hexdigest()


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def check(condition, place):
    if not condition:
        sys.exit(f"broken at {place}")


def verify(entries, seals):
    claims, removed, previous = {}, {}, ""
    for number, seal in enumerate(seals, 1):
        place = f"seal {number}"
        check(int(seal["number"]) == number, place)
        fields = ["entitle-audit-seal-1", previous, number, seal["atMs"], seal["node"]]
        for chain in seal["chains"]:
            end = int(chain["position"])
            gone = int(chain.get("removedPosition", 0))
            gone_hash = chain.get("removedHash", "")
            fields += [chain["chain"], end, chain["hash"], gone, gone_hash]
            claims.setdefault(chain["chain"], {})[end] = chain["hash"]
            removed[chain["chain"]] = (gone, gone_hash)
        check(seal.get("previousHash", "") == previous, place)
        check(seal["hash"] == digest(fields), place)
        previous = seal["hash"]
    heads = dict(removed)
    for entry in sorted(entries, key=lambda entry: (entry["chain"], int(entry["position"]))):
        chain, position = entry["chain"], int(entry["position"])
        place = f"entry {position} of chain {chain}"
        end, end_hash = heads.get(chain, (0, ""))
        check(position == end + 1 and entry.get("previousHash", "") == end_hash, place)
        names = ["app", "appEnvironment", "account", "formerAccount", "author", "onBehalfOf", "proof"]
        names += ["tokenId", "reason", "subject"]
        fields = ["entitle-audit-entry-1", end_hash, chain, position, entry["node"]]
        fields += [entry.get("atMs", "0"), entry["peer"], entry["method"]]
        fields += [entry.get(name, "") for name in names] + [entry["outcome"]]
        check(entry["hash"] == digest(fields), place)
        check(claims.get(chain, {}).get(position, entry["hash"]) == entry["hash"], place)
        heads[chain] = (position, entry["hash"])
    for chain, ends in claims.items():
        check(heads[chain][0] >= max(ends), f"the end of chain {chain}")
    return previous


def main():
    entries, seals = read(sys.argv[1]), read(sys.argv[2])
    head = verify(entries, seals)
    print(f"{len(entries)} entries, {len(seals)} seals, head {head}")


if __name__ == "__main__":
    main()
