#!/usr/bin/env python3
"""Compares the verdicts of `entitlectl verify` with those of Apple's own library for Python.

Both sides judge the same generated variants, and Apple's real samples where they are present. Every
difference must have a reason that is known (`reasons.py`), and every reason must still occur.

Exit codes: 0 as known, 1 a difference without a reason or a reason without a difference, 64 usage.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

import faults
import variants
from reasons import REASONS, reason_of, unused_patterns
from samples import sample_variants
from variants import Factory, Variant

# The method of Apple's library for each kind.
METHODS = {
    "transaction": "verify_and_decode_signed_transaction",
    "renewal info": "verify_and_decode_renewal_info",
    "app transaction": "verify_and_decode_app_transaction",
    "notification": "verify_and_decode_notification",
}

# Verdicts for the status of Apple's library. VERIFICATION_FAILURE stands for any of these verdicts.
SAME = {
    "OK": {"OK"},
    "INVALID_APP_IDENTIFIER": {"WRONG_APP"},
    "INVALID_ENVIRONMENT": {"WRONG_ENVIRONMENT"},
    "INVALID_CERTIFICATE": {"INVALID_CERTIFICATE"},
    "INVALID_CHAIN_LENGTH": {"INVALID_CERTIFICATE"},
    "VERIFICATION_FAILURE": {
        "MALFORMED",
        "UNSUPPORTED_ALGORITHM",
        "INVALID_CERTIFICATE",
        "UNTRUSTED_CHAIN",
        "CERTIFICATE_EXPIRED",
        "INVALID_SIGNATURE",
    },
}


@dataclass(frozen=True)
class Finding:
    variant: Variant
    # The name of the status, or `EXCEPTION` for an undeclared error.
    apple: str
    ours: str
    detail: str

    @property
    def differs(self) -> bool:
        return self.ours not in SAME.get(self.apple, set())


def generated() -> list[Variant]:
    factory = Factory()
    groups = variants.GROUPS + faults.GROUPS
    return [variant for group in groups for variant in group(factory)]


def apple_status(variant: Variant) -> str:
    verifier = SignedDataVerifier(
        list(variant.roots),
        False,
        Environment(variant.environment),
        variant.bundle_id,
        variant.app_apple_id,
    )
    try:
        getattr(verifier, METHODS[variant.kind])(variant.text)
    except VerificationException as error:
        return error.status.name
    except Exception:
        # A user of the library would get any other exception too.
        return "EXCEPTION"
    return "OK"


def our_verdicts(judged: list[Variant], entitlectl: pathlib.Path) -> list[tuple[str, str]]:
    """Verdict and reason of each. Variants with the same expectations are verified in one run."""
    groups: dict[tuple, list[int]] = {}
    for index, variant in enumerate(judged):
        # Renewal infos are verified alone: next to transactions they would be checked against their
        # app.
        key = (
            variant.roots,
            variant.environment,
            variant.bundle_id,
            variant.app_apple_id,
            variant.kind == "renewal info",
        )
        groups.setdefault(key, []).append(index)
    found: dict[int, tuple[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for key, indices in groups.items():
            found |= _run(pathlib.Path(folder), judged, indices, key, entitlectl)
    return [found[index] for index in range(len(judged))]


def _run(
    folder: pathlib.Path,
    judged: list[Variant],
    indices: list[int],
    key: tuple,
    entitlectl: pathlib.Path,
) -> dict[int, tuple[str, str]]:
    roots, environment, bundle_id, app_apple_id, _ = key
    environment = "local-testing" if environment == "LocalTesting" else environment.lower()
    command = [
        str(entitlectl),
        "verify",
        "--output",
        "json",
        "--environment",
        environment,
        "--bundle-id",
        bundle_id,
        "--app-apple-id",
        str(app_apple_id),
    ]
    for number, root in enumerate(roots):
        path = folder / f"root-{number}.der"
        path.write_bytes(root)
        # Without an environment, a root stands for all but Production.
        command += ["--trust-root", str(path), "--trust-root", f"production={path}"]
    files = {}
    for index in indices:
        # As JSON, so that every character of the text is preserved.
        path = folder / f"{index}.json"
        path.write_text(json.dumps({"signed": judged[index].text}))
        files[str(path)] = index
    run = subprocess.run(command + list(files), capture_output=True, text=True, check=False)
    if run.returncode not in (0, 2):
        sys.exit(f"entitlectl ended with {run.returncode}: {run.stderr}")
    return {
        files[entry["file"]]: (entry["verdict"].removeprefix("VERDICT_"), entry.get("detail") or "")
        for entry in json.loads(run.stdout)
    }


def table(findings: list[Finding]) -> str:
    """The summary in Markdown."""
    agreed = [finding for finding in findings if not finding.differs]
    counts = Counter((finding.apple, finding.ours) for finding in agreed)
    lines = [
        f"{len(findings)} variants, {len(agreed)} with the same verdict:",
        "",
        "| Apple's library | here | variants |",
        "|---|---|---|",
    ]
    order = list(SAME)
    for (apple, ours), count in sorted(
        counts.items(), key=lambda item: (order.index(item[0][0]), -item[1], item[0][1])
    ):
        lines.append(f"| {apple} | {ours} | {count} |")
    lines += [
        "",
        f"and {len(findings) - len(agreed)} with another one, each for a known reason:",
        "",
    ]
    lines += ["| Apple's library | here | variants | why |", "|---|---|---|---|"]
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.differs:
            by_reason.setdefault(reason_of(finding.variant.name) or "?", []).append(finding)
    for key, text in REASONS.items():
        group = by_reason.get(key, [])
        if group:
            lines.append(
                f"| {_names(f.apple for f in group)} | {_names(f.ours for f in group)} "
                f"| {len(group)} | {text} |"
            )
    return "\n".join(lines)


def _names(names) -> str:
    return ", ".join(sorted(set(names)))


def problems(findings: list[Finding]) -> list[str]:
    """Differences without a known reason, and reasons without a difference."""
    names = [finding.variant.name for finding in findings]
    found = [f"'{name}' names several variants" for name, n in Counter(names).items() if n > 1]
    found += [f"'{pattern}' names no variant" for pattern in unused_patterns(names)]
    for finding in findings:
        reason = reason_of(finding.variant.name)
        if finding.differs and reason is None:
            found.append(
                f"{finding.variant.name}: Apple's library says {finding.apple}, entitlectl "
                f"{finding.ours} ({finding.detail}), and no reason is known"
            )
        if not finding.differs and reason is not None:
            found.append(
                f"{finding.variant.name}: both say {finding.apple} / {finding.ours}, though "
                f"'{reason}' should make a difference"
            )
    return found


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--entitlectl",
        type=pathlib.Path,
        default=root / ".build/debug/entitlectl",
        help="the program to compare (default: .build/debug/entitlectl)",
    )
    parser.add_argument(
        "--samples",
        type=pathlib.Path,
        default=root.parent / "shared/data/apple-signed",
        help="the folder of Apple's real samples; left out where it is absent",
    )
    parser.add_argument("--markdown", type=pathlib.Path, help="a file to write the table to")
    parser.add_argument("--list", action="store_true", help="print every variant with its verdicts")
    arguments = parser.parse_args()
    if not arguments.entitlectl.is_file():
        parser.exit(64, f"{arguments.entitlectl} is absent: build it, or name another one\n")
    # Warnings about X.509 signatures that are not strict: these are compared on purpose.
    warnings.simplefilter("ignore")
    judged = generated()
    samples = sample_variants(arguments.samples)
    if not samples:
        print("Apple's samples are absent: without them", file=sys.stderr)
    judged += samples
    statuses = [apple_status(variant) for variant in judged]
    verdicts = our_verdicts(judged, arguments.entitlectl)
    findings = [
        Finding(variant, status, verdict, detail)
        for variant, status, (verdict, detail) in zip(judged, statuses, verdicts, strict=True)
    ]
    if arguments.list:
        for finding in findings:
            mark = "≠" if finding.differs else "="
            columns = [finding.variant.name, finding.apple, finding.ours, finding.detail]
            print(mark, " | ".join(columns))
    text = table(findings)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text + "\n")
    wrong = problems(findings)
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
