#!/usr/bin/env python3
"""Verifies a sealoop ledger: every hash, signature and link, and that its signed checkpoint is of these receipts.

usage: verify_ledger.py ADDRESS_OR_FILE [KEY [LOG_KEY]]
ADDRESS_OR_FILE: the ledger's address, or a file that /api/export gave: JSON, or one receipt a line.
KEY: a public key of the ledger as you know it, or its SHA-256; without it, the keys that it names are believed. One is
enough, as receipts prove how each key hands over to the next.
LOG_KEY: verifier key of the Merkle log as you know it; likewise.
Ends with 0 where everything holds, with 1 where it does not, and with 2 where that can't be told.
"""
import base64
import hashlib
import http.client
import json
import sys
import urllib.error
import urllib.request
from collections import namedtuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SUCCESSION = ("ledger_genesis", "ledger_adopted", "key_rotated")
OUTSIDE = {
    "3.0": {"canonical_bytes", "signature", "hash_sha256"},
    "2.0": {"canonical_bytes", "signature", "receiver_attestation", "prev_hash"},
}


# A key of the ledger: trusted from a position on; recovery: the key that may replace it, None before keys had one
Key = namedtuple("Key", "start public recovery known", defaults=(None, False))


class CannotTell(Exception):
    """What is there can't be read, or is no ledger."""


class NoSuccession(Exception):
    """A receipt introduces a key that it may not introduce."""


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


def named_by(key):
    """A public key goes by itself, as hex, or by its fingerprint."""
    return key, sha256(bytes.fromhex(key)).hex()


def problems(entry, position, before, keys):
    try:
        yield from broken_rules(entry, position, before, keys)
    except (AttributeError, KeyError, TypeError, ValueError):
        yield "a field that its schema_version needs is missing, or is no such field"


def broken_rules(entry, position, before, keys):
    if entry.get("prev_hash") != before.get("hash_sha256"):
        yield "prev_hash is not the hash of the entry before"
    version = entry.get("schema_version")
    if (version or "") < (before.get("schema_version") or ""):
        yield "it is of an older era than the entry before, which proves less"
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
    key = key_at(position, keys)
    if not key or key.public not in named_by(signature["public_key"]):
        yield "signed by another key than the published one"
    elif not signed_by(bytes.fromhex(signature["public_key"]), bytes.fromhex(signature["value"]), stored):
        yield "the signature does not verify"
    elif version == "3.0":
        try:
            introduced_by(entry, position, keys)
        except NoSuccession as fault:
            yield str(fault)


def introduced_by(entry, position, keys):
    """Keys that a valid receipt introduces; few introduce any."""
    category = entry.get("category")
    if category not in SUCCESSION or entry.get("schema_version") != "3.0":
        return []
    details = entry.get("details")
    details = details if isinstance(details, dict) else {}
    index = index_at(position, keys)
    key, before = keys[index], keys[:index]
    if category == "key_rotated":
        return rotated(details, entry["prev_hash"], position, keys, index)
    if category == "ledger_genesis" and position != 0:
        raise NoSuccession("it begins a ledger, and is not the first entry")
    if category == "ledger_adopted":
        if not position or details.get("size") != position or details.get("head") != entry["prev_hash"]:
            raise NoSuccession("it adopts other receipts than those before it")
        if details.get("keys") != [named(one) for one in before]:
            raise NoSuccession("it adopts receipts with other keys than those published for them")
        if any(one.recovery for one in before) and not key.known:
            raise NoSuccession("it adopts receipts of a ledger whose key has not handed over to its own")
    own = (position, details.get("ledger_key"), details.get("recovery_key"))
    if not key.recovery or key[:3] != own or key.public == key.recovery:
        raise NoSuccession("the keys that it introduces are not those published for this position")
    return before + [key] if category == "ledger_adopted" else [key]


def rotated(details, prev_hash, position, keys, index):
    signer, following = keys[index], keys[index + 1:index + 2]
    if not signer.recovery:
        raise NoSuccession("it changes the key of a ledger that has none of its own")
    recovers = signer.start == position and index > 0 and keys[index - 1].recovery == signer.public
    old = keys[index - 1] if recovers else signer
    new, recovery = details.get("new_key"), details.get("recovery_key")
    named_here = [(position + 1, new, recovery)]
    if [one[:3] for one in following] != named_here or not recovery or details.get("old_key") != old.public:
        raise NoSuccession("the keys that it names are not those published from here on")
    if new in (old.public, old.recovery, recovery):
        raise NoSuccession("its new key is one that is in use already")
    if not recovers and recovery != old.recovery:
        raise NoSuccession("it changes the recovery key, which only the recovery key itself may")
    first = next(one.public for one in keys if one.recovery)
    statement = {
        "statement": "sealoop key_rotated",
        "first_key": first,
        "from_position": position + 1,
        "new_key": new,
        "old_key": old.public,
        "position": position,
        "prev_hash": prev_hash,
    }
    same = details.get("first_key") == first and details.get("from_position") == position + 1
    proof = bytes.fromhex(details.get("new_key_signature", ""))
    if not same or not signed_by(bytes.fromhex(new), proof, canonical(statement)):
        raise NoSuccession("its new key has not signed that it takes over here")
    return [signer, *following] if recovers else following


def named(key):
    fields = {"public_key": key.public, "from_position": key.start}
    return {**fields, "recovery_key": key.recovery} if key.recovery else fields


def claimed_keys(stream):
    """Keys that receipts say they introduce, where nobody names them. They are verified like named ones."""
    keys = []
    for entry in stream:
        if not isinstance(entry, dict) or entry.get("category") not in SUCCESSION:
            continue
        try:
            details, start, signer = entry["details"], entry["chain_position"], entry["signature"]["public_key"]
            recovery = details["recovery_key"]
            if entry["category"] == "key_rotated":
                if signer != details["old_key"] and keys and signer == keys[-1].recovery:
                    keys.append(Key(start, signer, signer))
                keys.append(Key(start + 1, details["new_key"], recovery))
                continue
            if entry["category"] == "ledger_adopted":
                keys = [to_key(one) for one in details["keys"]]
            keys.append(Key(start, details["ledger_key"], recovery))
        except (KeyError, TypeError, ValueError):
            continue  # verifying it reports that
    return keys


def to_key(fields):
    recovery = fields.get("recovery_key")
    return Key(int(fields["from_position"]), str(fields["public_key"]), recovery if isinstance(recovery, str) else None)


def without_succession(keys, introduced):
    """Keys that no receipt introduces. Only the first of a ledger from before keys had successions needs none."""
    for n, key in enumerate(keys):
        if not (key.recovery is None and (n == 0 or key.known)) and key[:3] not in introduced:
            yield key


def unproven_from(keys, adoptions, end):
    """Where the keys that the reader knows no longer vouch for the key in force."""
    if not any(key.known for key in keys):
        return min(adoptions, default=None)
    ends = [key.start for key in keys[1:]] + [end]
    used = [key.start for key, until in zip(keys, ends) if key.known and key.start < until]
    if not used:
        return 0 if end else None
    return min((start for start in adoptions if start > used[-1]), default=None)


def position_of(entry, position, before, keys):
    """Where it stands: later, if it does not follow on the entry before and holds by itself where it says it stands."""
    claimed = entry.get("chain_position")
    if entry.get("prev_hash") == before.get("hash_sha256") or not isinstance(claimed, int) or claimed <= position:
        return position
    alone = {**before, "hash_sha256": entry.get("prev_hash")}
    signed = entry.get("schema_version") == "3.0" and not any(problems(entry, claimed, alone, keys))
    return claimed if signed else position


def index_at(position, keys):
    return max((n for n, key in enumerate(keys) if key.start <= position), default=-1)


def key_at(position, keys):
    index = index_at(position, keys)
    return keys[index] if index >= 0 else None


class Tree:
    """The Merkle tree of RFC 6962: roots of complete subtrees, the largest first."""

    def __init__(self):
        self.size, self.roots = 0, []

    def add(self, entry):
        record = sha256(canonical(entry)).hex()
        leaf = canonical({"chain_position": self.size, "id": entry.get("id"), "record_sha256": record})
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
    try:
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
    except ValueError:
        raise CannotTell("the checkpoint or the log's key is none")
    raise CannotTell("the checkpoint is not signed by the log's key")


def get(address):
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        raise CannotTell(f"{address} answers with status {error.code}: is that the ledger's address?")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise CannotTell(f"{address}: {getattr(error, 'reason', error)}")


def get_fields(address, *names):
    try:
        fields = json.loads(get(address))
        return [fields[name] for name in names]
    except (KeyError, TypeError, ValueError):
        raise CannotTell(f"{address} does not answer as a ledger does")


def entries(source):
    """Gives keys, checkpoint, its key and the total, as far as they are named, and then every entry, oldest first."""
    if not source.startswith(("http://", "https://")):
        try:
            yield from entries_of_file(source)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is neither JSON nor one receipt a line"
            raise CannotTell(f"{source}: {why}")
        return
    source = source.rstrip("/")
    keys, log = get_fields(source + "/api/how-to-verify", "keys", "log")
    log_key = (log or {}).get("verifier_key")
    yield keys, log_key and get(source + "/checkpoint"), log_key, None
    position = 0
    while True:
        page = f"{source}/api/export?from={position}&to={position + 1000}"
        receipts, position, total = get_fields(page, "receipts", "to", "total")
        yield from receipts
        if not receipts or position >= total:
            return


def entries_of_file(path):
    with open(path, encoding="utf-8") as file:
        line = file.readline()
        try:
            data = json.loads(line)
        except ValueError:
            data = json.loads(line + file.read())
        if isinstance(data, dict) and "hash_sha256" in data:  # one receipt a line, which name no keys
            yield [], None, None, None
            yield data
            yield from (json.loads(line) for line in file if line.strip())
            return
    if isinstance(data, list):
        data = {"receipts": data}
    if not isinstance(data, dict) or not isinstance(data.get("receipts"), list):
        raise CannotTell(f"{path}: there are no receipts in it")
    if data.get("from"):
        raise CannotTell(f"{path}: it begins at position {data['from']}, and not with the first receipt")
    key = data.get("public_key")
    keys = data.get("keys") or ([{"public_key": key, "from_position": 0}] if key else [])
    yield keys, None, None, data.get("total")
    yield from data["receipts"]


def believed(named, known, source):
    """The named keys, if the known one is among them; if none are named, those of the receipts, else the known one."""
    try:
        keys = [to_key(key) for key in named]
        if not keys and not source.startswith(("http://", "https://")):
            stream = entries(source)
            next(stream)
            keys = claimed_keys(stream)
        if not keys:
            return [Key(0, known, None, True)] if known else []
        keys = [key._replace(known=bool(known) and known in named_by(key.public)) for key in keys]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CannotTell("what is named as the ledger's keys is none")
    if known and not any(key.known for key in keys):
        raise CannotTell(f"none of the ledger's keys is {known}, or has it as its fingerprint")
    return keys


def main(source, known=None, log_key=None):
    stream = entries(source)
    keys, checkpoint, named_log_key, total = next(stream)
    keys = believed(keys, known and known.lower(), source)
    size, root = open_checkpoint(checkpoint, log_key or named_log_key) if checkpoint else (None, None)
    before, position, broken, tree = {"hash_sha256": ""}, 0, 0, Tree()
    introduced, adoptions = set(), []
    for entry in stream:
        if not isinstance(entry, dict):
            raise CannotTell(f"{source}: what is at position {position} is no receipt")
        if not keys and "signature" in entry:
            raise CannotTell(f"{source} does not name the key by which its receipts are signed: give it as KEY")
        if tree.size == size and tree.root() != root:
            broken += 1
            print(f"position {position - 1}: up to here it is not what the checkpoint of {size} was signed of")
        stands = position_of(entry, position, before, keys)
        if stands > position:
            broken += 1
            print(f"position {position}: missing" + (f", with all up to {stands - 1}" if stands - position > 1 else ""))
            before = {**before, "hash_sha256": entry["prev_hash"]}
        found = list(problems(entry, stands, before, keys))
        for problem in found:
            broken += 1
            print(f"position {stands}: {problem}")
        if not found and entry.get("category") in SUCCESSION:
            introduced.update(key[:3] for key in introduced_by(entry, stands, keys))
            adoptions += [stands] if entry["category"] == "ledger_adopted" else []
        before, position = entry, stands + 1
        tree.add(entry)
    if size is not None and position < size:
        broken += 1
        print(f"position {position}: the end is missing, as a checkpoint of {size} was signed")
    elif isinstance(total, int) and position < total:
        broken += 1
        print(f"position {position}: the end is missing, as there should be {total} receipts")
    elif tree.size == size and tree.root() != root:
        broken += 1
        print(f"position {position - 1}: it is not what the checkpoint of {size} was signed of")
    for key in without_succession(keys, introduced):
        broken += 1
        print(f"position {key.start}: the key {key.public[:16]}… is published from here on, and no receipt hands over to it")
    unproven = unproven_from(keys, adoptions, position)
    if unproven is not None:
        print(f"unproven from position {unproven}: no key that you gave vouches for the key from there on")
    found = f"{broken} problem" if broken == 1 else f"{broken} problems"
    print(f"{tree.size} receipts, {found}" + (f", checkpoint of {size}" if checkpoint else ""))
    if broken:
        return 1
    return 2 if known and unproven is not None else 0


if __name__ == "__main__":
    try:
        if len(sys.argv) not in (2, 3, 4):
            raise CannotTell(f"there is nothing to verify\n\n{__doc__}")
        sys.exit(main(*sys.argv[1:]))
    except CannotTell as error:
        print(f"Cannot verify: {error}", file=sys.stderr)
        sys.exit(2)
