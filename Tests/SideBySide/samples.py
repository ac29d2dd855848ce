"""Apple's real payloads, which are never part of the project."""

from __future__ import annotations

import base64
import json
import pathlib

from variants import Variant

KINDS = {"renewal": "renewal info", "appTransaction": "app transaction"}


def sample_variants(folder: pathlib.Path) -> list[Variant]:
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return []
    variants = []
    for entry in json.loads(manifest.read_text()):
        expected = entry.get("verified_as")
        if not entry["file"].endswith(".jws") or expected is None:
            continue
        text = (folder / entry["file"]).read_text().strip()
        header, payload = (_decoded(part) for part in text.split(".")[:2])
        content = payload.get("data") or payload.get("summary") or payload
        variants.append(
            Variant(
                f"sample: {entry['file']}",
                text,
                KINDS.get(entry["kind"], entry["kind"]),
                (base64.b64decode(header["x5c"][2]),),
                expected["environment"],
                expected["bundleId"],
                content.get("appAppleId") or 1,
            )
        )
    return variants


def _decoded(part: str) -> dict:
    return json.loads(base64.urlsafe_b64decode(part + "=="))
