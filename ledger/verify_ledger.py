#!/usr/bin/env python3
"""Verifies a sealoop ledger from its export: every hash, signature and link.

usage: verify_ledger.py ADDRESS_OR_FILE [FINGERPRINT]
ADDRESS_OR_FILE: the ledger's address, or a file that /api/export gave.
FINGERPRINT: SHA-256 of the public key as you know it; without it, the key the ledger names is believed.
"""
import hashlib
import json
import sys
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

OUTSIDE = {
    "3.0": {"canonical_bytes", "signature", "hash_sha256"},
    "2.0": {"canonical_bytes", "signature", "receiver_attestation", "prev_hash"},
}


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def problems(entry, position, previous, key):
    if entry.get("prev_hash") != previous:
        yield "prev_hash is not the hash of the entry before"
    version = entry.get("schema_version")
    if version is None:
        return
    if version not in OUTSIDE:
        yield f"unknown schema_version {version}"
        return
    stored = bytes.fromhex(entry["canonical_bytes"])
    if canonical({k: v for k, v in entry.items() if k not in OUTSIDE[version]}) != stored:
        yield "the stored fields do not give the canonical bytes"
    if version == "3.0":
        if hashlib.sha256(stored).hexdigest() != entry["hash_sha256"]:
            yield "the hash is not that of the canonical bytes"
        if entry["chain_position"] != position:
            yield "chain_position is not the entry's place"
    signature = entry["signature"]
    if signature["public_key"] != key:
        yield "signed by another key than the published one"
        return
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature["value"]), stored)
    except InvalidSignature:
        yield "the signature does not verify"


def entries(source):
    """Gives the keys, then every entry, oldest first."""
    if not source.startswith(("http://", "https://")):
        with open(source, encoding="utf-8") as file:
            data = json.load(file)
        yield data.get("keys") or [{"public_key": data["public_key"], "from_position": 0}]
        yield from data["receipts"]
        return

    def get(path):
        with urllib.request.urlopen(source.rstrip("/") + path) as answer:
            return json.load(answer)

    yield get("/api/how-to-verify")["keys"]
    position = 0
    while True:
        page = get(f"/api/export?from={position}&to={position + 1000}")
        yield from page["receipts"]
        position += page["count"]
        if page["count"] == 0 or position >= page["total"]:
            return


def main(source, fingerprint=None):
    stream = entries(source)
    keys = next(stream)
    if fingerprint and all(
        hashlib.sha256(bytes.fromhex(k["public_key"])).hexdigest() != fingerprint for k in keys
    ):
        sys.exit(f"none of the ledger's keys has the fingerprint {fingerprint}")
    previous, position, broken = "", 0, 0
    for position, entry in enumerate(stream, start=1):
        trusted = [k for k in keys if k["from_position"] <= position - 1]
        key = trusted[-1]["public_key"] if trusted else None
        for problem in problems(entry, position - 1, previous, key):
            broken += 1
            print(f"position {position - 1}: {problem}")
        previous = entry["hash_sha256"]
    print(f"{position} receipts, {broken} problems")
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
