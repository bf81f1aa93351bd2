#!/usr/bin/env python3
"""Verifies a sealoop ledger: every hash, signature and link, and that its signed checkpoint is of these receipts.

usage: verify_ledger.py ADDRESS_OR_FILE [FINGERPRINT [LOG_KEY]]
ADDRESS_OR_FILE: the ledger's address, or a file that /api/export gave.
FINGERPRINT: SHA-256 of a public key of the ledger as you know it; without it, the keys that it names are believed.
LOG_KEY: verifier key of the Merkle log as you know it; likewise.
"""
import base64
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


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def signed_by(public_key, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


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
        if sha256(stored).hex() != entry["hash_sha256"]:
            yield "the hash is not that of the canonical bytes"
        if entry["chain_position"] != position:
            yield "chain_position is not the entry's place"
    signature = entry["signature"]
    if signature["public_key"] != key:
        yield "signed by another key than the published one"
    elif not signed_by(bytes.fromhex(key), bytes.fromhex(signature["value"]), stored):
        yield "the signature does not verify"


class Tree:
    """The Merkle tree of RFC 6962: roots of complete subtrees, the largest first."""

    def __init__(self):
        self.size, self.roots = 0, []

    def add(self, entry):
        record = sha256(canonical(entry)).hex()
        leaf = canonical({"chain_position": self.size, "id": entry["id"], "record_sha256": record})
        self.roots.append(sha256(b"\0", leaf))
        self.size += 1
        full = self.size
        while full % 2 == 0:
            right, left = self.roots.pop(), self.roots.pop()
            self.roots.append(sha256(b"\1", left, right))
            full //= 2

    def root(self):
        if not self.roots:
            return sha256()
        root = self.roots[-1]
        for left in self.roots[-2::-1]:
            root = sha256(b"\1", left, root)
        return root


def open_checkpoint(note, verifier_key):
    """Size and root of a signed checkpoint. See C2SP tlog-checkpoint, signed-note."""
    name, key_id, key = verifier_key.split("+", 2)
    text, signatures = note.rsplit("\n\n", 1)
    text += "\n"
    for line in signatures.splitlines():
        _, signer, value = line.split(" ")
        value = base64.b64decode(value)
        if signer == name and value[:4].hex() == key_id:
            if signed_by(base64.b64decode(key)[1:], value[4:], text.encode()):
                _, size, root = text.splitlines()[:3]
                return int(size), base64.b64decode(root)
    sys.exit("the checkpoint is not signed by the log's key")


def get(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read().decode()


def entries(source):
    """Gives the keys and the checkpoint with its key, if there is one, and then every entry, oldest first."""
    if not source.startswith(("http://", "https://")):
        with open(source, encoding="utf-8") as file:
            data = json.load(file)
        keys = data.get("keys") or [{"public_key": data["public_key"], "from_position": 0}]
        yield keys, None, None
        yield from data["receipts"]
        return
    source = source.rstrip("/")
    rules = json.loads(get(source + "/api/how-to-verify"))
    yield rules["keys"], get(source + "/checkpoint"), rules["log"]["verifier_key"]
    position = 0
    while True:
        page = json.loads(get(f"{source}/api/export?from={position}&to={position + 1000}"))
        yield from page["receipts"]
        position = page["to"]
        if page["count"] == 0 or position >= page["total"]:
            return


def main(source, fingerprint=None, log_key=None):
    stream = entries(source)
    keys, checkpoint, named_log_key = next(stream)
    if fingerprint and all(sha256(bytes.fromhex(k["public_key"])).hex() != fingerprint for k in keys):
        sys.exit(f"none of the ledger's keys has the fingerprint {fingerprint}")
    size, root = open_checkpoint(checkpoint, log_key or named_log_key) if checkpoint else (None, None)
    previous, broken, tree = "", 0, Tree()
    for entry in stream:
        position = tree.size
        if position == size and tree.root() != root:
            broken += 1
            print(f"position {position - 1}: up to here it is not what the checkpoint of {size} was signed of")
        trusted = [k for k in keys if k["from_position"] <= position]
        key = trusted[-1]["public_key"] if trusted else None
        for problem in problems(entry, position, previous, key):
            broken += 1
            print(f"position {position}: {problem}")
        previous = entry["hash_sha256"]
        tree.add(entry)
    if size is not None and tree.size < size:
        broken += 1
        print(f"position {tree.size}: the end is missing, as a checkpoint of {size} was signed")
    elif tree.size == size and tree.root() != root:
        broken += 1
        print(f"position {tree.size - 1}: it is not what the checkpoint of {size} was signed of")
    print(f"{tree.size} receipts, {broken} problems" + (f", checkpoint of {size}" if checkpoint else ""))
    return 1 if broken else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
