#!/usr/bin/env python3
"""Verifies a sealoop ledger, or a file of evidence that its operator has opened.

Of a ledger it checks every hash, signature and link, and that its signed checkpoint is of these receipts. Needs nothing but
Python 3.9; where the package cryptography is installed, it is faster.

  verify_ledger.py https://ledger.example --pin sealoop.trust.json      the first time: pins its keys, if everything holds
  verify_ledger.py https://ledger.example sealoop.trust.json            from then on: it can show nothing else any more
  verify_ledger.py export.ndjson sealoop.trust.json                     a file that /api/export gave
  verify_ledger.py --evidence opened.json sealoop.trust.json            what people have approved, and what they signed

What is pinned at first sight is what the ledger has shown: compare its keys with another source as soon as you have one.
Ends with 0 where everything holds, with 1 where something does not, and with 2 where that can't be told.
"""
import argparse
import base64
import calendar
import hashlib
import http.client
import json
import os
import re
import sys
import unicodedata
import urllib.error
import urllib.request
from collections import namedtuple
from decimal import Decimal

try:  # 20 times as fast as the Python below, and the same verdicts
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

OUTSIDE = {
    "3.0": {"canonical_bytes", "signature", "hash_sha256"},
    "2.0": {"canonical_bytes", "signature", "receiver_attestation", "prev_hash"},
}
SUCCESSION = ("ledger_genesis", "ledger_adopted", "key_rotated")
INTENTS = ("repair_intended", "undo_intended", "service_brought_back")  # of acts at places
ENDS = ("self_heal", "escalation")
WHOLE = ("media_made", "platform_scan")
STATED = ("action_id", "place", "round", "step")
ERAS = {None: 1, "2.0": 2, "3.0": 3}
SINCE_ERA_2 = {"canonical_bytes", "signature", "chain_position"}
SIGNATURE_FIELDS = {"algorithm", "public_key", "value", "signs"}
TRUST_FIELDS = {"ledger_keys", "log_key", "witnesses", "witness_quorum", "min_era", "checkpoint"}
KEY_FIELDS = {"public_key", "from_position", "recovery_key"}
KINDS = {1: "log", 4: "witness"}
MAX_DEPTH = 64
MAX_BYTES = 8 * 1024 * 1024
NDJSON = "application/x-ndjson"
SPACES = b" \t\r\n"
P = 2 ** 255 - 19  # of the curve's field
D = -121665 * pow(121666, -1, P) % P
L = 2 ** 252 + 27742317777372353535851937790883648493  # order of its group
# The y of points of small order: a key among them signs anything
SMALL_ORDER_Y = {
    0, 1, P - 1,
    0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
}


# A key of the ledger: trusted from a position on; recovery: the key that may replace it, None before keys had one
Key = namedtuple("Key", "start public recovery known", defaults=(None, False))


class CannotTell(Exception):
    """What is there can't be read, or is no ledger."""


class Wrong(Exception):
    """A text is not what it should be; the message says why."""


class NoSuccession(Exception):
    """A receipt introduces a key that it may not introduce."""


class NotOfPlace(Exception):
    """A receipt names a place that has not signed what it says, or enrols none."""


class Repeated(dict):
    """A JSON object that has a field twice: programs differ in which of them they read."""


def fields_of(pairs):
    value = dict(pairs)
    return value if len(value) == len(pairs) else Repeated(value)


def parse(text):
    """Reads JSON. Raises ValueError for what is none, NaN and Infinity among it."""
    def refuse(name):
        raise ValueError(name)
    try:
        return json.loads(text, object_pairs_hook=fields_of, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deep")


def decode(data):
    """Text of UTF-8. Raises ValueError for what is none; a mark of the order of bytes is part of the text."""
    return data.decode("utf-8")


def canonical(value):
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def oddity(value, depth=0):
    """Why a value has no canonical form, if that can be seen."""
    if isinstance(value, Repeated):
        return "a field is there twice"
    if isinstance(value, str) and "\0" in value:
        return "a text contains U+0000"
    if not isinstance(value, (dict, list)):
        return None
    if depth >= MAX_DEPTH:
        return f"it is nested deeper than {MAX_DEPTH} levels"
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return next(filter(None, (oddity(item, depth + 1) for item in inner)), None)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def unhex(text, digits=None):
    """Bytes of lowercase hex. Raises ValueError for any other text."""
    if not isinstance(text, str) or not re.fullmatch(r"(?:[0-9a-f]{2})+", text) or len(text) != (digits or len(text)):
        raise ValueError("no lowercase hex")
    return bytes.fromhex(text)


def unbase64(text):
    value = base64.b64decode(text, validate=True)
    if base64.b64encode(value).decode() != text:
        raise ValueError("no base64")
    return value


def signed_by(public_key, signature, message):
    """Verifies Ed25519 without the cofactor; canonical encodings alone, and no key or R of small order. See RFC 8032."""
    if len(signature) != 64 or not (is_point(public_key) and is_point(signature[:32])):
        return False
    if int.from_bytes(signature[32:], "little") >= L:
        return False
    if Ed25519PublicKey is None:
        return signed_in_python(public_key, signature, message)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def is_point(encoded):
    """True for a canonical encoding that is not of a point of small order; whether it is on the curve is not checked."""
    y = int.from_bytes(encoded, "little") & (2 ** 255 - 1)
    return len(encoded) == 32 and y < P and y not in SMALL_ORDER_Y


def signed_in_python(public_key, signature, message):
    """Verifies the equation of Ed25519, with points as (X, Y, Z, T). See RFC 8032, 5.1."""
    key = point_of(public_key)
    if key is None:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    factor = int.from_bytes(digest, "little") % L
    minus = (P - key[0], key[1], 1, P - key[3])
    table = [None, BASE, minus, ed_add(BASE, minus)]
    result = (0, 1, 1, 0)
    for bit in range(252, -1, -1):
        result = ed_add(result, result)
        part = table[(scalar >> bit & 1) + 2 * (factor >> bit & 1)]
        result = ed_add(result, part) if part else result
    x, y, z, _ = result
    x, y = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


def point_of(encoded):
    """A point by its canonical encoding, or None."""
    number = int.from_bytes(encoded, "little")
    y, sign = number & (2 ** 255 - 1), number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def ed_add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def whole(value):
    """A JSON number that is a whole one, as JavaScript has them. Raises ValueError for anything else."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value < 2 ** 53:
        raise ValueError("no whole number")
    return value


def problems(entry, position, before, keys):
    try:
        yield from broken_rules(entry, position, before, keys)
    except (AttributeError, KeyError, TypeError, ValueError):
        yield "a field that its schema_version needs is missing, or is no such field"


def broken_rules(entry, position, before, keys):
    odd = "it is no JSON object" if not isinstance(entry, dict) else oddity(entry)
    if odd:
        yield odd
        return
    if entry.get("prev_hash") != before.get("hash_sha256"):
        yield "prev_hash is not the hash of the entry before"
    version = entry.get("schema_version")
    if version not in ERAS or (version is None and "schema_version" in entry):
        yield f"unknown schema_version {version!r}"
        return
    if ERAS[version] < ERAS.get(before.get("schema_version"), 1):
        yield "it is of an older era than the entry before, which proves less"
    if version is None:
        if SINCE_ERA_2 & entry.keys():
            yield "it has no schema_version, and yet fields of a later era"
        return
    stored = unhex(entry["canonical_bytes"])
    if canonical({k: v for k, v in entry.items() if k not in OUTSIDE[version]}) != stored:
        yield "the stored fields do not give the canonical bytes"
    if version == "3.0":
        if sha256(stored).hex() != entry["hash_sha256"]:
            yield "the hash is not that of the canonical bytes"
        if type(entry["chain_position"]) is not int or entry["chain_position"] != position:
            yield "chain_position is not the entry's place"
    signature, key = entry["signature"], key_at(position, keys)
    if signature["algorithm"] != "Ed25519" or signature.get("signs", "canonical_bytes") != "canonical_bytes":
        yield "it is said to be signed in another way than with Ed25519 over the canonical bytes"
    elif signature.keys() - SIGNATURE_FIELDS:
        yield "the signature has fields that nothing signs"
    elif not key or signature["public_key"] != key.public:
        yield "signed by another key than the one trusted for this position"
    elif not signed_by(unhex(key.public, 64), unhex(signature["value"], 128), stored):
        yield "the signature does not verify"
    elif version == "3.0":
        try:
            introduced_by(entry, position, keys)
        except NoSuccession as fault:
            yield str(fault)
    if version == "3.0":
        try:
            places_of(entry)
        except NotOfPlace as fault:
            yield str(fault)


def places_of(entry):
    """
    The place that a receipt enrols, or None; those that have signed a result in it, each by its public key; and whether it
    is of an act that none has signed.
    """
    category, details = entry.get("category"), entry.get("details")
    details = details if isinstance(details, dict) else {}
    if category == "place_enrolled":
        if not is_hex(details.get("place"), 64):
            raise NotOfPlace("it enrols a place whose id is no public key")
        return details["place"], [], False
    acts = acts_of(entry, category, details)
    signed = [act for act in acts if "place" in act or "place_signature" in act]
    if not all(signed_at_place(act) for act in signed):
        raise NotOfPlace("the place that it names has not signed this result of the act")
    return None, [act["place"] for act in signed], any(lacks_signature(act) for act in acts)


def acts_of(entry, category, details):
    if category in INTENTS:
        around = {"kind": entry.get("action"), "state": entry.get("outcome")}
        kept = {"effect_id", "code", "place_signature", *STATED}
        return [{**around, **{name: value for name, value in details.items() if name in kept}}]
    if category in WHOLE:
        around = {"action": entry.get("action"), "outcome": entry.get("outcome")}
        return [{**{name: value for name, value in details.items() if name != "commitments"}, **around}]
    if category in ENDS:
        undone = details.get("undone")
        lists = [details.get("steps"), undone.get("steps") if isinstance(undone, dict) else None]
        return [act for steps in lists if isinstance(steps, list) for act in steps if isinstance(act, dict)]
    return []


def lacks_signature(act):
    return "place_signature" not in act and act.get("state") != "unknown" and ("effect_id" in act or "outcome" in act)


def signed_at_place(act):
    place, signature = act.get("place"), act.get("place_signature")
    if not (is_hex(place, 64) and is_hex(signature, 128) and all(name in act for name in STATED)):
        return False
    result = {name: value for name, value in act.items() if name not in STATED and name != "place_signature"}
    statement = {name: act[name] for name in STATED}
    statement["result_sha256"] = sha256(canonical(result)).hex()
    return signed_by(bytes.fromhex(place), bytes.fromhex(signature), canonical(statement))


def is_hex(value, digits):
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", value) is not None


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
    proof = unhex(details.get("new_key_signature"), 128)
    if not same or not signed_by(unhex(new, 64), proof, canonical(statement)):
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
    key, start, recovery = fields["public_key"], whole(fields["from_position"]), fields.get("recovery_key")
    recovery = recovery if isinstance(recovery, str) else None
    return Key(start, unhex(key, 64) and key, recovery and unhex(recovery, 64) and recovery)


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
    claimed = claimed_position(entry)
    if claimed <= position or entry.get("prev_hash") == before.get("hash_sha256"):
        return position
    alone = {**before, "hash_sha256": entry.get("prev_hash")}
    return position if any(problems(entry, claimed, alone, keys)) else claimed


def claimed_position(entry):
    claimed = entry.get("chain_position") if isinstance(entry, dict) else None
    return claimed if type(claimed) is int and entry.get("schema_version") == "3.0" else -1


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
        try:
            record = sha256(canonical(entry)).hex()
            leaf = canonical({"chain_position": self.size, "id": entry.get("id"), "record_sha256": record})
        except (AttributeError, TypeError, ValueError, RecursionError):
            leaf = b""  # it is reported as a problem, and no root fits it
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


class NoteKey:
    """A key of a log or of a witness. See C2SP signed-note."""

    def __init__(self, text, kind):
        try:
            self.name, key_id, encoded = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", text).groups()
            value = unbase64(encoded)
            self.kind, self.public_key, self.id = KINDS[value[0]], value[1:], bytes.fromhex(key_id)
            if self.kind != kind or len(value) != 33 or sha256(self.name.encode(), b"\n", value)[:4] != self.id:
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Wrong(f"{text} is no verifier key of a {kind}")

    def finds(self, note):
        """True where it has signed a note, None where there is no signature of it, False where one does not verify."""
        values = [value[4:] for name, value in note.signatures if name == self.name and value[:4] == self.id]
        return all(self.verifies(note.text, value) for value in values) if values else None

    def verifies(self, text, value):
        if self.kind == "witness":
            text = f"cosignature/v1\ntime {int.from_bytes(value[:8], 'big')}\n{text}"
            value = value[8:]
        return len(value) == 64 and signed_by(self.public_key, value, text.encode())


class Checkpoint:
    """A checkpoint of the log, not verified yet. See C2SP tlog-checkpoint."""

    def __init__(self, note):
        try:
            text, lines = note.rsplit("\n\n", 1)
            self.text = text + "\n"
            self.origin, size, root = self.text.split("\n")[:3]
            found = [re.fullmatch("\u2014 ([^ +]+) ([A-Za-z0-9+/]+={0,2})", line) for line in lines.split("\n")[:-1]]
            self.signatures = [(match[1], unbase64(match[2])) for match in found]
            if any(len(value) < 5 for _, value in self.signatures):
                raise ValueError
            self.size, self.root = int(re.fullmatch(r"0|[1-9][0-9]{0,15}", size)[0]), unbase64(root)
            if not self.origin or not note.endswith("\n") or len(self.root) != 32 or self.size >= 2 ** 53:
                raise ValueError
        except (AttributeError, TypeError, ValueError):
            raise Wrong("the checkpoint is none")


class Trust:
    """What the verifier knows from elsewhere than from the ledger."""

    def __init__(self, fields=None):
        is_pinned, fields = fields is not None, {} if fields is None else fields
        if type(fields) is not dict:  # no JSON object, or one that says something twice
            raise Wrong("it is no JSON object with each field once")
        if fields.keys() - TRUST_FIELDS:
            raise Wrong(f"it has the field {min(fields.keys() - TRUST_FIELDS)}")
        self.keys = keys_of(fields.get("ledger_keys", []))
        if "ledger_keys" in fields and not self.keys or any(is_no_key(key) for key in fields.get("ledger_keys", [])):
            raise Wrong("its ledger_keys are no list of keys, or have other fields")
        if [key.start for key in self.keys] != sorted({key.start for key in self.keys}):
            raise Wrong("its ledger_keys are not in the order of their positions")
        self.log_key = NoteKey(fields["log_key"], "log") if "log_key" in fields else None
        self.witnesses = [NoteKey(text, "witness") for text in fields.get("witnesses", [])]
        if len({key.public_key for key in self.witnesses}) < len(self.witnesses):
            raise Wrong("two of its witnesses have the same key")
        try:
            self.quorum = whole(fields.get("witness_quorum", 0))
            self.min_era = whole(fields.get("min_era", 2 if is_pinned else 1))
        except ValueError:
            raise Wrong("witness_quorum or min_era is no whole number")
        if self.quorum > len(self.witnesses):
            raise Wrong("witness_quorum is not a number of its witnesses")
        if self.witnesses and ("witness_quorum" not in fields or not self.log_key):
            raise Wrong("it has witnesses, and lacks witness_quorum or log_key")
        if self.min_era not in (1, 2, 3):
            raise Wrong("min_era is none of 1, 2 and 3")
        if is_pinned and not self.keys and not self.log_key:
            raise Wrong("it pins nothing: give it ledger_keys or log_key")
        self.seen = Checkpoint(fields["checkpoint"]) if "checkpoint" in fields else None
        if self.seen and not (self.log_key and self.log_key.name == self.seen.origin and self.log_key.finds(self.seen)):
            raise Wrong("its checkpoint is not signed by its log_key")


def is_no_key(fields):
    return bool(fields.keys() - KEY_FIELDS) or not isinstance(fields.get("recovery_key", ""), str)


def keys_of(named):
    try:
        return [to_key(key) for key in named]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Wrong("what is named as the ledger's keys is none")


def merged(pinned, published):
    """The pinned keys, and those that the ledger names for other positions, which its receipts must introduce."""
    recoveries = {key[:2]: key.recovery for key in published}
    known = [key._replace(recovery=key.recovery or recoveries.get(key[:2]), known=True) for key in pinned]
    starts = {key.start for key in known}
    return sorted([*known, *(key for key in published if key.start not in starts)], key=lambda key: key.start)


def judge(trust, shown, named_log_key):
    """What does not hold of a checkpoint, what is pinned and absent, and the checkpoints that the receipts must match."""
    seen = [trust.seen] if trust.seen else []
    try:
        key = trust.log_key or (NoteKey(named_log_key, "log") if named_log_key else None)
        if not key:
            return [], [], seen
        if shown is None:
            return [], ["the log's key is known, and there is no checkpoint signed by it"], seen
        note = shown if isinstance(shown, Checkpoint) else Checkpoint(shown)
    except Wrong as error:
        return [str(error)], [], seen
    if note.origin != key.name:
        return [f"the checkpoint is of the log {note.origin}, and the key of {key.name}"], [], seen
    if not key.finds(note):
        return [f"the checkpoint is not signed by the key of {key.name}"], [], seen
    results = [(witness.name, witness.finds(note)) for witness in trust.witnesses]
    faults = [f"the checkpoint has a cosignature of {name} that does not verify" for name, r in results if r is False]
    cosigned = [name for name, result in results if result]
    if seen and note.size < seen[0].size:
        faults.append(f"the checkpoint is of {note.size}, and you have seen one of {seen[0].size}: it is an old one")
    elif seen and note.size == seen[0].size and note.root != seen[0].root:
        faults.append(f"there are two checkpoints of {note.size} that contradict each other: the log was forked")
    absent = []
    if len(cosigned) < trust.quorum:
        absent.append(f"the checkpoint needs {trust.quorum} cosignatures, and has {len(cosigned)} {cosigned or ''}".rstrip())
    same = seen and (seen[0].size, seen[0].root) == (note.size, note.root)
    return faults, absent, [note] if same else [*seen, note]


def open_address(address, accept="*/*"):
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers={"accept": accept}), timeout=60)
    except urllib.error.HTTPError as error:
        raise CannotTell(f"{address} answers with status {error.code}: is that the ledger's address?")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise unreadable(address, error)


def unreadable(address, error):
    return CannotTell(f"{address}: {getattr(error, 'reason', error)}")


class Remote:
    """A ledger that is read over HTTP."""

    def __init__(self, address, trust):
        self.address = address.rstrip("/")
        self.total, self.faults = None, []
        try:
            with open_address(self.address + "/api/how-to-verify") as answer:
                named = parse(decode(answer.read(MAX_BYTES)))
                reason = oddity(named)
                if reason:
                    raise CannotTell(f"{self.address}/api/how-to-verify can't be used: {reason}")
                self.keys, log = named.get("keys", []), named.get("log")
        except (AttributeError, ValueError):
            raise CannotTell(f"{self.address}/api/how-to-verify does not answer as a ledger does")
        except (OSError, http.client.HTTPException) as error:
            raise unreadable(self.address, error)
        log_key = log.get("verifier_key") if isinstance(log, dict) else None
        self.log_key = log_key if isinstance(log_key, str) else None
        log = log if isinstance(log, dict) else {}
        self.witnesses = {name: log[name] for name in ("witnesses", "witness_quorum") if log.get("witnesses")}
        self.checkpoint = self.read_checkpoint() if trust.log_key or self.log_key else None

    def read_checkpoint(self):
        try:
            with urllib.request.urlopen(self.address + "/checkpoint", timeout=60) as answer:
                return answer.read(MAX_BYTES).decode()
        except urllib.error.HTTPError:
            return None
        except (OSError, http.client.HTTPException) as error:
            raise unreadable(self.address, error)
        except ValueError:
            return ""  # no text

    def entries(self):
        """Gives every entry, oldest first. Goes on where a connection was lost, as long as that brings more."""
        position, failure = 0, None
        while self.total is None or failure or position < self.total:
            start, failure = position, None
            with open_address(f"{self.address}/api/export?from={position}", NDJSON) as answer:
                try:
                    size = answer.headers["x-ledger-size"] or ""
                    if not re.fullmatch("[0-9]{1,15}", size):
                        raise CannotTell(f"{answer.url} does not answer as a ledger does")
                    self.total = int(size)
                    for line in iter(lambda: answer.readline(MAX_BYTES), b""):
                        if not line.strip(SPACES):
                            continue
                        entry = entry_of(line)
                        if entry is None and not line.endswith(b"\n"):
                            raise ValueError("it ends in the middle of a receipt")
                        if is_page(entry) or not line.lstrip(SPACES).startswith(b"{"):
                            raise CannotTell(f"{answer.url}: expected a receipt a line, and found something else")
                        yield entry
                        position = max(position + 1, claimed_position(entry) + 1)
                except (OSError, ValueError, http.client.HTTPException) as error:
                    failure = error
            if failure and (position == start or isinstance(failure, ValueError) and position >= self.total):
                raise unreadable(self.address, failure)
            if position == start:
                return


def entry_of(line):
    try:
        return parse(decode(line))
    except ValueError:
        return None


class File:
    """An exported file. All of it is read: receipts and at most one envelope, and nothing behind."""

    def __init__(self, path, trust):
        self.path, self.checkpoint = path, trust.seen
        self.keys, self.log_key, self.total, self.data, self.faults, self.witnesses = [], None, None, None, [], {}
        try:
            with open(path, "rb") as file:
                lines = (line for line in file if line.strip(SPACES))
                line, second = next(lines, b""), next(lines, None)
                data = entry_of(line)
                if data is None or second is None:  # one value, which may be of several lines
                    file.seek(0)
                    data = parse(decode(file.read()))
                elif not is_receipt(data):
                    raise ValueError("a value, and something behind it")
                elif is_newest_first(data, entry_of(second)):
                    self.data = [*self.read_lines()][::-1]
                    return
                else:
                    return  # one receipt a line, which name no keys
        except (OSError, ValueError) as error:
            raise self.unreadable(error)
        self.read_envelope(data)

    def read_envelope(self, data):
        if is_receipt(data) and not isinstance(data.get("receipts"), list):
            data = [data]
        data = {"receipts": data} if isinstance(data, list) else data
        if not isinstance(data, dict) or not isinstance(data.get("receipts"), list):
            raise CannotTell(f"{self.path}: there are no receipts in it")
        envelope = {**data, "receipts": []}
        reason = "it names something twice" if isinstance(data, Repeated) else oddity(envelope)
        if reason:
            raise CannotTell(f"{self.path}: {reason}")
        try:
            numbers = {name: whole(data[name]) for name in ("from", "count", "total") if name in data}
            canonical(envelope)
        except ValueError:
            raise CannotTell(f"{self.path}: one of its numbers is none that it may have")
        receipts = data["receipts"]
        if not receipts or not is_receipt(receipts[0]):
            raise CannotTell(f"{self.path}: there are no receipts in it")
        if not all(isinstance(entry, dict) for entry in receipts):
            raise CannotTell(f"{self.path}: there is something else than receipts in it")
        if numbers.get("count", len(receipts)) != len(receipts):
            self.faults.append(f"it says that it has {numbers['count']} receipts, and has {len(receipts)}")
        if numbers.get("from"):
            raise CannotTell(f"{self.path}: it begins at position {numbers['from']}, and not with the first receipt")
        key = data.get("public_key")
        self.keys = data.get("keys") or ([{"public_key": key, "from_position": 0}] if key else [])
        self.total = numbers.get("total")
        self.data = receipts[::-1] if is_newest_first(*receipts[:2]) else receipts

    def unreadable(self, error):
        return CannotTell(f"{self.path}: {getattr(error, 'strerror', None) or 'it is neither JSON nor one receipt a line'}")

    def read_lines(self):
        try:
            with open(self.path, "rb") as file:
                for line in file:
                    if not line.strip(SPACES):
                        continue
                    text, entry = line.strip(SPACES), entry_of(line)
                    if len(line) > MAX_BYTES or not (text.startswith(b"{") and text.endswith(b"}")) or is_page(entry):
                        raise ValueError("no receipt")
                    yield entry
        except (OSError, ValueError) as error:
            raise self.unreadable(error)

    def entries(self):
        return self.read_lines() if self.data is None else iter(self.data)


def is_receipt(entry):
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in ("id", "hash_sha256"))


def is_page(entry):
    return isinstance(entry, dict) and isinstance(entry.get("receipts"), list)


def is_newest_first(first, second=None):
    """The oldest receipt links to nothing. Where it is missing, the second one of a file links to the first."""
    if first.get("prev_hash") == "" or not isinstance(first.get("prev_hash"), str):
        return False
    return not isinstance(second, dict) or second.get("prev_hash") != first.get("hash_sha256")


def printable(text):
    """Leaves nothing in a text that a server could use to write over what is shown."""
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)


class Verification:
    """Verifies entry after entry, and prints each problem."""

    def __init__(self, keys, checkpoints):
        self.keys, self.checkpoints = keys, sorted(checkpoints, key=lambda checkpoint: checkpoint.size)
        self.before, self.position, self.tree = {"hash_sha256": ""}, 0, Tree()
        self.found, self.eras = 0, [0, 0, 0]
        self.introduced, self.adoptions = set(), []
        self.places, self.unknown_places = set(), set()
        self.compare()

    def report(self, place, problem):
        self.found += 1
        print(printable(f"{place}: {problem}"))

    def add(self, entry):
        stands = position_of(entry, self.position, self.before, self.keys)
        if stands > self.position:
            more = f", with all up to {stands - 1}" if stands - self.position > 1 else ""
            self.report(f"position {self.position}", "missing" + more)
            self.before = {**self.before, "hash_sha256": entry["prev_hash"]}
        found = list(problems(entry, stands, self.before, self.keys))
        for problem in found:
            self.report(f"position {stands}", problem)
        entry = entry if isinstance(entry, dict) else {}
        if not found and entry.get("category") in SUCCESSION:
            self.introduced.update(key[:3] for key in introduced_by(entry, stands, self.keys))
            self.adoptions += [stands] if entry["category"] == "ledger_adopted" else []
        if not found and entry.get("schema_version") == "3.0":
            self.compare_places(stands, *places_of(entry))
        version = entry.get("schema_version")
        if isinstance(version, (str, type(None))) and version in ERAS:
            self.eras[ERAS[version] - 1] += 1
        self.before, self.position = entry, stands + 1
        self.tree.add(entry)
        self.compare()

    def compare_places(self, position, enrolled, acted, is_unsigned):
        if is_unsigned and self.places:
            reason = "it is of an act that no place has signed, and a receipt before it enrols places"
            self.report(f"position {position}", reason)
        for place in dict.fromkeys(acted):
            if place not in self.places | self.unknown_places:
                self.unknown_places.add(place)
                reason = f"it is of the place {place[:16]}…, and no receipt before it enrols that"
                self.report(f"position {position}", reason)
        self.places.update([enrolled] if enrolled else [])

    def compare(self):
        while self.checkpoints and self.checkpoints[0].size == self.tree.size:
            checkpoint = self.checkpoints.pop(0)
            if checkpoint.root != self.tree.root():
                reason = f"up to here it is not what the checkpoint of {checkpoint.size} was signed of"
                self.report(f"position {max(0, self.tree.size - 1)}", reason)

    def end(self, total):
        for checkpoint in self.checkpoints:
            self.report(f"position {self.position}", f"the end is missing, as a checkpoint of {checkpoint.size} was signed")
        if isinstance(total, int) and self.position < total and not self.checkpoints:
            self.report(f"position {self.position}", f"the end is missing, as there should be {total} receipts")
        elif isinstance(total, int) and self.position > total:
            self.report(f"position {total}", f"it says that it has {total} receipts, and shows {self.position}")
        for key in without_succession(self.keys, self.introduced):
            reason = f"the key {key.public[:16]}… is published from here on, and no receipt hands over to it"
            self.report(f"position {key.start}", reason)


def main(source, trust, pin=None):
    is_address = source.startswith(("http://", "https://"))
    opened = Remote(source, trust) if is_address else File(source, trust)
    published = keys_of(opened.keys)
    if not published and not is_address:
        published = claimed_keys(opened.entries())
    keys = merged(trust.keys, published)
    faults, absent, checkpoints = judge(trust, opened.checkpoint, opened.log_key)
    verification = Verification(keys, checkpoints)
    for entry in opened.entries():
        if not keys and isinstance(entry, dict) and "signature" in entry:
            raise CannotTell(f"{source} does not name the key by which its receipts are signed: give a TRUST_FILE")
        verification.add(entry)
    verification.end(opened.total)
    eras = verification.eras
    weak = sum(eras[: trust.min_era - 1])
    if weak:
        unsigned = ", and era 1 is not signed: allow it only if you know that the ledger began so" if eras[0] else ""
        faults.append(f"{weak} receipts are of an era before {trust.min_era}{unsigned}")
    if trust.keys and eras[1] + eras[2] == 0:
        absent.append("a key of the ledger is pinned, and no receipt is signed by it")
    unproven = unproven_from(keys, verification.adoptions, verification.position)
    if unproven is not None and trust.keys:
        absent.append(f"from position {unproven} on no pinned key vouches for the key of the ledger")
    elif unproven is not None:
        print(f"unproven from position {unproven}: a new key adopted the receipts before; pin it if you know it")
    for fault in faults + opened.faults:
        verification.report("the ledger", fault)
    broken = verification.found
    sizes = " and ".join(str(checkpoint.size) for checkpoint in checkpoints)
    found = f"{broken} problem" if broken == 1 else f"{broken} problems"
    print(f"{verification.tree.size} receipts, {found}" + (f", checkpoint of {sizes}" if sizes else ""))
    for reason in absent:
        print(printable(f"Cannot verify: {reason}"), file=sys.stderr)
    if pin and not broken and not absent:
        write_pins(pin, opened, keys, eras)
    return 1 if broken else 2 if absent else 0


# Opened evidence: what the operator shows of the private evidence behind receipts (npm run evidence -- … --save FILE)

JS_SPACE = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
SPACE = re.compile(f"[{JS_SPACE}\x85]+")
AT_END = re.compile(f"[{JS_SPACE}]+$")
INVISIBLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    "|\ufe0f(?=[\ufe00-\ufe0f])"
)
BY_KEY = "approved by a key: no passkey has signed it"
NOT_CLAIMED = "not claimed: what eyes saw, whose finger it was, that the names are true, that these are all receipts"
ALGORITHM_OF = {"EC": "ES256", "OKP": "EdDSA", "RSA": "RS256"}


def escape_invisible(text):
    """Spells out what can't be seen, as the platform does where people decide."""
    return INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def shown_lines(approval):
    """The lines that people are shown of an approval, and that their passkey signs the hash of."""
    needed = approval["needed"]
    people = "one person" if needed == 1 else f"{needed} different people"
    return lines_of([
        ("approval", approval["approval_id"]),
        ("asks for", approval["description"] or approval["subject"]),
        ("because", "\n".join(approval["reasons"])),
        ("rule", "none" if approval["rule"] is None else approval["rule"]),
        ("reaches", "\n".join(approval["reaches"])),
        ("evidence", "\n".join(f"{one['kind']} {one['id']}" for one in approval["evidence"])),
        ("asked by", f"{approval['requested_by']} of {approval['tenant_id']}"),
        ("needs", f"{people}, by passkey alone" if approval.get("passkey") else people),
    ], approval["action"])


def shown_call_lines(call):
    """The lines that a person is shown of a call of their own, which a rule leaves to people."""
    return lines_of([
        ("your call", call["summary"]),
        ("because", "\n".join(call["reasons"])),
        ("rule", call["rule"]),
        ("reaches", "\n".join(call["reaches"])),
        ("made by", f"{call['requested_by']} of {call['tenant_id']}"),
    ], call["action"])


def grant_lines(terms):
    """The lines that a person is shown of a standing grant before their passkey signs it."""
    uses, needed = terms["max_uses"], terms["needed"]
    acts = [f"{one['what']}, exactly as in {one['approval_id']}\n  action_sha256 {one['action_sha256']}" for one in terms["acts"]]
    fields = [
        ("grant", terms["grant_id"]),
        ("lets run", "\n".join(acts)),
        ("at most", "once" if uses == 1 else f"{uses} times, all of them together"),
        ("until", terms["expires_at"]),
        ("made by", f"{terms['made_by']} for {terms['tenant_id']}"),
        ("takes", "one person" if needed == 1 else f"{needed} different people"),
    ]
    return [line for name, text in fields for line in field_lines(name, escape_invisible(text))]


def lines_of(fields, action):
    texts = [(name, escape_invisible(text)) for name, text in fields if text]
    return [line for name, text in [*texts, ("action", shown_action(action))] for line in field_lines(name, text)]


def field_lines(name, text):
    return [AT_END.sub("", f"{'' if n else name:<12}{line}") for n, line in enumerate(text.split("\n"))]


def shown_action(action):
    texts = []
    json_text = shown_value(action, "", "", texts)
    return "\n".join([json_text, *texts])


def shown_value(value, name, indent, texts):
    if isinstance(value, str):
        lines = escape_invisible(value).split("\n")
        if len(lines) == 1:
            return json.dumps(lines[0], ensure_ascii=False)
        marked = "\n".join(AT_END.sub("", f"| {line}") for line in lines)
        texts.append(f"{escape_invisible(SPACE.sub(' ', name).strip(' '))}:\n{marked}")
        return f'"{len(lines)} lines, below"'
    inner = indent + "  "
    if isinstance(value, list):
        items = [shown_value(item, str(n), inner, texts) for n, item in enumerate(value)]
    elif isinstance(value, dict):
        order = sorted((utf_16(escape_invisible(key)), utf_16(key), key) for key in value)
        items = [
            f"{json.dumps(escape_invisible(key), ensure_ascii=False)}: {shown_value(value[key], key, inner, texts)}"
            for _, _, key in order
        ]
    else:
        return shown_number(value) if type(value) in (int, float) else json.dumps(value)
    opening, closing = "[]" if isinstance(value, list) else "{}"
    if not items:
        return opening + closing
    return opening + "\n" + ",\n".join(inner + item for item in items) + f"\n{indent}{closing}"


def utf_16(text):
    return text.encode("utf-16-be")


def shown_number(value):
    """A number as JavaScript prints it."""
    try:
        value = float(value)
    except OverflowError:
        return "null"
    if value in (float("inf"), float("-inf")):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + exponent
    if len(text) <= point <= 21:
        text += "0" * (point - len(text))
    elif 0 < point <= 21:
        text = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        text = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if sign else "") + text


def as_javascript(value):
    """A value with its numbers as JavaScript reads them: 1.0 is 1."""
    if isinstance(value, list):
        return [as_javascript(item) for item in value]
    if isinstance(value, dict):
        return {name: as_javascript(item) for name, item in value.items()}
    return int(value) if type(value) is float and value.is_integer() and abs(value) < 1e21 else value


def is_text(value):
    return isinstance(value, str)


def is_hash(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def is_count(value):
    return type(value) is int and 0 <= value < 2 ** 53


def one_of(*values):
    return lambda value: type(value) in (int, str) and value in values


def or_null(shape):
    return lambda value: value is None or shape(value)


def list_of(shape):
    return lambda value: isinstance(value, list) and all(map(shape, value))


def map_of(shape):
    return lambda value: isinstance(value, dict) and all(map(shape, value.values()))


def fields_with(shapes, optional={}):
    every = {**shapes, **optional}
    return lambda value: isinstance(value, dict) and shapes.keys() <= value.keys() and all(
        name in every and every[name](item) for name, item in value.items())


def seconds_of(value):
    """A time in UTC in whole seconds; None: it is none."""
    form = r"([1-9][0-9]{3})-(0[1-9]|1[0-2])-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|\+00:00)"
    parts = re.fullmatch(form, value) if is_text(value) else None
    return calendar.timegm(tuple(map(int, parts.groups()))) if parts else None


def is_time(value):
    return seconds_of(value) is not None


def is_public_key(value):
    return any(shape(value) for shape in PUBLIC_KEYS)


PUBLIC_KEYS = [
    fields_with({"kty": one_of("EC"), "crv": one_of("P-256"), "x": is_text, "y": is_text}),
    fields_with({"kty": one_of("OKP"), "crv": one_of("Ed25519"), "x": is_text}),
    fields_with({"kty": one_of("RSA"), "n": is_text, "e": is_text}),
]
IS_BUNDLE = fields_with({
    "sealoop_evidence": one_of(1),
    "log_key": or_null(is_text),
    "checkpoint": or_null(is_text),
    "receipts": list_of(fields_with({
        "record": is_text,
        "hashes": or_null(list_of(is_hash)),
        "opened": map_of(fields_with({"salt": is_hash, "content": is_text})),
    })),
})


def signed_over(statement, optional={}):
    return fields_with({
        "passkey_id": is_text,
        "public_key": is_public_key,
        "enrolment": is_text,
        "statement": statement,
        "assertion": fields_with({
            "credential_id": is_text, "client_data": is_text, "authenticator_data": is_text, "signature": is_text,
        }),
        "rp_id": is_text,
        "origin": is_text,
    }, optional)


IS_APPROVAL_STATEMENT = signed_over(fields_with({
    "version": one_of(1), "approval": is_text, "cycle": is_count, "move": one_of("approved"), "act": is_hash,
    "shown_sha256": is_hash, "nonce": is_text,
}), {"list": fields_with({
    "statement": fields_with({
        "version": one_of(1), "move": one_of("approved"), "size": is_count, "root": is_hash, "nonce": is_text,
    }),
    "index": is_count,
    "path": list_of(is_hash),
})})
IS_CALL_STATEMENT = signed_over(fields_with({
    "version": one_of(1), "call": is_text, "act": is_hash, "shown_sha256": is_hash, "nonce": is_text,
}))
IS_GRANT_STATEMENT = signed_over(fields_with({
    "version": one_of(1), "grant": is_text, "move": one_of("granted"), "shown_sha256": is_hash, "nonce": is_text,
}))
IS_TERMS = fields_with({
    "grant_id": is_text, "tenant_id": is_text, "max_uses": is_count, "expires_at": is_time, "made_by": is_text,
    "needed": is_count,
    "acts": list_of(fields_with({"approval_id": is_text, "what": is_text, "action_sha256": is_hash})),
})
SHOWN_OF_ALL = {"reasons": list_of(is_text), "reaches": list_of(is_text), "requested_by": is_text, "tenant_id": is_text}
IS_SHOWN_APPROVAL = fields_with({
    **SHOWN_OF_ALL, "approval_id": is_text, "subject": is_text, "description": is_text, "rule": or_null(is_text),
    "evidence": list_of(fields_with({"kind": is_text, "id": is_text})), "needed": is_count, "action_salt": is_hash,
}, {"passkey": lambda value: type(value) is bool})
IS_SHOWN_CALL = fields_with({
    **SHOWN_OF_ALL, "summary": is_text, "rule": is_text, "action": lambda value: isinstance(value, dict),
})


# Answers of passkeys: from here on the device agent has the very lines.


class Answer(Exception):
    """A passkey's answer does not count; its text is the code of the reason."""


def unbase64url(text):
    if not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        raise Answer("malformed")
    value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_base64url(value) != text:
        raise Answer("malformed")
    return value


def to_base64url(value):
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def challenge_of(signed):
    """What a passkey was given to sign: the hash of the statement, or of the list in which that is proven to be."""
    statement, place = signed["statement"], signed.get("list")
    if place:
        leaf, size = sha256(b"\0", canonical(statement)), place["statement"]["size"]
        root = inclusion_root(leaf, place["index"], size, [bytes.fromhex(one) for one in place["path"]])
        if root is None or root.hex() != place["statement"]["root"]:
            raise Answer("list")
        statement = place["statement"]
    return to_base64url(sha256(canonical(statement)))


def check_answer(signed):
    """Checks the answer of a passkey. See WebAuthn, 7.2. Raises Answer where it does not count."""
    answer, origin = signed["assertion"], signed["origin"]
    host = re.fullmatch(r"https?://([^/:@?#]+)(?::[0-9]+)?", origin)
    if not host or host[1] != signed["rp_id"]:
        raise Answer("rp_id")
    check_assertion(answer, signed["public_key"], challenge_of(signed), signed["rp_id"], origin)


def check_assertion(answer, public_key, challenge, rp_id, origin):
    client_data = unbase64url(answer["client_data"])
    try:
        fields = json.loads(client_data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Answer("malformed")
    if not isinstance(fields, (dict, list)):
        raise Answer("malformed")
    fields = fields if isinstance(fields, dict) else {}
    if fields.get("type") != "webauthn.get":
        raise Answer("type")
    if fields.get("challenge") != challenge:
        raise Answer("challenge")
    if fields.get("origin") != origin or fields.get("crossOrigin") is True or fields.get("topOrigin"):
        raise Answer("origin")
    data = unbase64url(answer["authenticator_data"])
    if len(data) < 37:
        raise Answer("malformed")
    if data[:32] != sha256(rp_id.encode()):
        raise Answer("rp_id")
    if data[32] & 5 != 5:  # a person was there, and was verified
        raise Answer("user_verification")
    signature = unbase64url(answer["signature"])
    if not verify_signature(public_key, data + sha256(client_data), signature):
        raise Answer("signature")


def verify_signature(key, message, signature):
    try:
        if key["kty"] == "EC":
            return verify_es256(unbase64url(key["x"]), unbase64url(key["y"]), message, signature)
        if key["kty"] == "RSA":
            return verify_rs256(unbase64url(key["n"]), unbase64url(key["e"]), message, signature)
        return signed_by(unbase64url(key["x"]), signature, message)
    except Answer:
        return False


# The curve P-256: y² = x³ - 3x + b over a field of Q_P elements, its order and its generator. See SEC 2, 2.4.2
Q_P = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1
Q_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
Q_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
Q_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def verify_es256(x, y, message, der):
    """Verifies ECDSA over P-256 with SHA-256. See FIPS 186-5, 6.4.2."""
    pair, key = der_pair(der), (int.from_bytes(x, "big"), int.from_bytes(y, "big"))
    if pair is None or len(x) != 32 or len(y) != 32 or max(key) >= Q_P:
        return False
    if (key[1] ** 2 - key[0] ** 3 + 3 * key[0] - Q_B) % Q_P or not all(1 <= part < Q_N for part in pair):
        return False
    inverse = pow(pair[1], Q_N - 2, Q_N)
    first = int.from_bytes(sha256(message), "big") * inverse % Q_N
    second = pair[0] * inverse % Q_N
    table, point = [None, Q_G, key, p256_add(Q_G, key)], None
    for bit in range(255, -1, -1):
        point = p256_add(point, point)
        point = p256_add(point, table[(first >> bit & 1) + 2 * (second >> bit & 1)])
    return point is not None and point[0] % Q_N == pair[0]


def p256_add(one, other):
    """Adds two points; None is the point at infinity."""
    if one is None or other is None:
        return other if one is None else one
    if one[0] == other[0]:
        if (one[1] + other[1]) % Q_P == 0:
            return None
        slope = (3 * one[0] ** 2 - 3) * pow(2 * one[1], Q_P - 2, Q_P) % Q_P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], Q_P - 2, Q_P) % Q_P
    x = (slope ** 2 - one[0] - other[0]) % Q_P
    return x, (slope * (one[0] - x) - one[1]) % Q_P


def der_pair(der):
    """The two integers of a signature, each in its one form, or None. See RFC 3279, 2.2.3."""
    if len(der) < 2 or der[0] != 0x30 or der[1] != len(der) - 2:
        return None
    at, pair = 2, []
    for _ in range(2):
        head = der[at:at + 2]
        part = der[at + 2:at + 2 + head[1]] if len(head) == 2 else b""
        if head[:1] != b"\x02" or not part or len(part) != head[1] or part[0] >= 0x80:
            return None
        if part[0] == 0 and part[1:2] < b"\x80" or len(part.lstrip(b"\0")) > 32:
            return None
        pair.append(int.from_bytes(part, "big"))
        at += 2 + head[1]
    return pair if at == len(der) else None


def verify_rs256(n, e, message, signature):
    """Verifies RSASSA-PKCS1-v1_5 with SHA-256. See RFC 8017, 8.2.2."""
    modulus, size = int.from_bytes(n, "big"), len(n.lstrip(b"\0"))
    value = int.from_bytes(signature, "big")
    digest = bytes.fromhex("3031300d060960864801650304020105000420") + sha256(message)
    if len(signature) != size or value >= modulus or size < len(digest) + 11:
        return False
    expected = b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest
    return pow(value, int.from_bytes(e, "big"), modulus).to_bytes(size, "big") == expected


# Up to here.


def inclusion_root(root, index, size, proof):
    """The root that an inclusion proof leads to, or None. See RFC 9162, 2.1.3.2."""
    if not 0 <= index < size:
        return None
    last = size - 1
    for one in proof:
        if last == 0:
            return None
        if index & 1 or index == last:
            root = sha256(b"\1", one, root)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            root = sha256(b"\1", root, one)
        index, last = index >> 1, last >> 1
    return root if last == 0 else None


OTHER_ACT = "what was signed is about another act"


class Opened:
    """A receipt with what was opened of it, checked by itself."""

    def __init__(self, fields, checkpoint, trust):
        self.says, self.faults, self.absent = [], [], []
        try:
            entry = parse(fields["record"])
        except ValueError:
            entry = None
        self.entry = entry if isinstance(entry, dict) else {}
        self.position = claimed_position(entry)
        self.details = self.entry["details"] if isinstance(self.entry.get("details"), dict) else {}
        self.check_signature(trust)
        self.check_place(fields["hashes"], checkpoint, trust)
        self.contents = self.check_entries(fields["opened"])
        self.opened = {name: as_javascript(parse(content)) for name, content in self.contents.items()}

    def text(self, name):
        value = self.entry.get(name)
        return value if isinstance(value, str) else ""

    def count(self, name):
        """A number in the details; None: it is none."""
        value = as_javascript(self.details.get(name))
        return value if is_count(value) else None

    def check_signature(self, trust):
        signature = self.entry.get("signature")
        public = signature.get("public_key") if isinstance(signature, dict) else None
        before = {"hash_sha256": self.entry.get("prev_hash")}
        if self.position < 0 or any(problems(self.entry, self.position, before, [Key(0, public)])):
            self.faults.append("the receipt is not what its key has signed")
            return
        pinned = key_at(self.position, trust.keys)
        is_pinned = pinned is not None and pinned.public == public
        known = "which is pinned" if is_pinned else "as the file says"
        self.says.append(f"signed by the ledger's key of fingerprint {sha256(unhex(public)).hex()[:16]}…, {known}")
        if trust.keys and not is_pinned and not trust.log_key:
            self.absent.append("no pinned key vouches for the key that signed it: pin the log as well")

    def check_place(self, hashes, checkpoint, trust):
        if not checkpoint or hashes is None:
            missing = "no signed checkpoint in the file has it"
            (self.absent if trust.log_key else self.says).append(missing)
            return
        try:
            record = sha256(canonical(self.entry)).hex()
            leaf = canonical({"chain_position": self.position, "id": self.text("id"), "record_sha256": record})
        except (TypeError, ValueError, RecursionError):
            leaf = b""
        proof = [bytes.fromhex(one) for one in hashes]
        if inclusion_root(sha256(b"\0", leaf), self.position, checkpoint.size, proof) != checkpoint.root:
            self.faults.append("its proof does not lead to the root that the log signed")
            return
        whose = "whose key is pinned" if trust.log_key else "with the key that the file names"
        self.says.append(f"in the log: its proof, of length {len(proof)}, leads to the root that {checkpoint.origin} signed "
                         f"for {checkpoint.size} receipts, {whose}")

    def check_entries(self, opened):
        commitments = self.details.get("commitments")
        commitments = commitments if isinstance(commitments, dict) else {}
        contents = {}
        for name in sorted(opened):
            salt, content = opened[name]["salt"], opened[name]["content"]
            is_sealed = name in commitments and sha256(unhex(salt), content.encode()).hex() == commitments[name]
            if is_sealed and is_canonical(content):
                contents[name] = content
            else:
                self.faults.append(f"its {name} is not what was sealed")
        closed = sorted(commitments.keys() - opened.keys())
        if contents:
            self.says.append(f"opened, and what was sealed: {', '.join(contents)}")
        if closed:
            self.says.append(f"not opened: {', '.join(closed)}")
        return contents

    def voter(self):
        voter = self.opened.get("voter")
        names = [voter.get(name) for name in ("key_id", "principal")] if isinstance(voter, dict) else [None]
        return names if all(map(is_text, names)) else None

    def is_call(self):
        """True for a call of a person's own, which a rule has left to people."""
        return self.text("category") == "governance_decision"

    def is_grant(self):
        return (self.text("category"), self.text("action")) == ("grant", "grant.made")

    def is_use(self):
        """True where it says that an act went under a standing grant, and was counted."""
        return is_text(self.details.get("grant")) and (self.is_call() or self.text("action") == "grant.used")

    def is_signed(self):
        is_decision = (self.text("category"), self.text("action")) == ("approval", "approval.approved")
        return self.details.get("signed_with") == "passkey" and (self.is_call() or self.is_grant() or is_decision)

    def says_passkey(self):
        """True where it says that its rule takes a passkey: in public, or in what was opened of it."""
        said = [self.details, self.opened.get("grounds"), self.opened.get("shown")]
        return any(isinstance(fields, dict) and fields.get("passkey") is True for fields in said)

    def check_own_call(self):
        """A call that its person decides about by a passkey is signed."""
        decides = self.is_call() and self.text("outcome") == "allow" and self.details.get("caller_approves") is True
        if decides and self.details.get("passkey") is True and not self.is_signed():
            self.faults.append("it is left to a person and their passkey, which has not signed it")

    def claims(self, receipts):
        """What is claimed of what a passkey has signed, a line each; none where that does not hold."""
        needed = ("statement", "terms") if self.is_grant() else ("action", "shown", "statement")[self.is_call():]
        missing = [
            name for name in needed
            if name not in self.opened and not (name == "statement" and self.details.get("statement"))
        ]
        if missing:
            self.absent.append(f"what the passkey signed is not opened: {', '.join(missing)}")
            return []
        signed = self.opened.get("statement", as_javascript(self.details.get("statement")))
        read = self.read_grant if self.is_grant() else self.read_call if self.is_call() else self.read_approval
        fault, lines, signer = read(signed)
        fault = fault or self.check_text(signed, lines)
        if fault:
            self.faults.append(fault)
            return []
        key, place = signed["public_key"], signed.get("list")
        gesture = place and (f"by one gesture over a list of {place['statement']['size']}, of which this is number "
                             f"{place['index'] + 1}")
        return [
            f"this credential, with user verification, signed exactly this text: passkey {signed['passkey_id']}, "
            f"{ALGORITHM_OF[key['kty']]}, on a page of {signed['origin']}",
            *(f"| {line}" for line in lines),
            *([gesture] if gesture else []),
            *self.enrolment(signed, signer, receipts),
        ]

    def read_approval(self, signed):
        """A sentence where what was signed is not about this approval, the lines that were signed, and who has signed."""
        shown, action, voter = self.opened["shown"], self.contents["action"], self.voter()
        if not IS_APPROVAL_STATEMENT(signed):
            return "its statement is none that a passkey signs", [], None
        if not IS_SHOWN_APPROVAL(shown):
            return "its shown fields are not those of an approval", [], None
        statement, subject = signed["statement"], self.text("subject")
        if {statement["approval"], shown["approval_id"], self.details.get("approval_id")} != {subject}:
            return "what was signed is about another approval", [], None
        if statement["cycle"] != as_javascript(self.details.get("cycle")):
            return "what was signed is about the approval before it was reopened", [], None
        act = sha256(unhex(shown["action_salt"]), action.encode()).hex()
        if act != self.details.get("action_commitment") or statement["act"] != act:
            return OTHER_ACT, [], None
        asked = parse(action)
        return None, shown_lines({**shown, "action": asked if isinstance(asked, dict) else {}}), voter and voter[1]

    def read_call(self, signed):
        shown, action = self.opened["shown"], self.text("action")
        if not IS_CALL_STATEMENT(signed):
            return "its statement is none that a passkey signs", [], None
        if not IS_SHOWN_CALL(shown):
            return "its shown fields are not those of a call", [], None
        if signed["statement"]["call"] != action or shown["action"].get("operation") != action:
            return "what was signed is about another call", [], None
        if signed["statement"]["act"] != sha256(canonical(shown["action"])).hex():
            return OTHER_ACT, [], None
        return None, shown_call_lines(shown), shown["requested_by"]

    def read_grant(self, signed):
        terms, subject, caller = self.opened["terms"], self.text("subject"), self.opened.get("caller")
        if not IS_GRANT_STATEMENT(signed):
            return "its statement is none that a passkey signs", [], None
        if not IS_TERMS(terms):
            return "its terms are not those of a grant", [], None
        if {signed["statement"]["grant"], terms["grant_id"], self.details.get("grant_id")} != {subject}:
            return "what was signed is about another grant", [], None
        bounds = {"acts": len(terms["acts"]), "max_uses": terms["max_uses"], "needed": terms["needed"]}
        is_same = all(self.count(name) == value for name, value in bounds.items())
        if not is_same or self.details.get("expires_at") != terms["expires_at"]:
            return "its receipt names other bounds than what was signed", [], None
        principal = caller.get("principal") if isinstance(caller, dict) else None
        if is_text(principal) and folded(principal) != folded(terms["made_by"]):
            return "its maker is another person than what was signed says", [], None
        return None, grant_lines(terms), terms["made_by"]

    def check_text(self, signed, lines):
        if sha256("".join(f"{line}\n" for line in lines).encode()).hex() != signed["statement"]["shown_sha256"]:
            return "what was signed is over another text than the one that is opened"
        try:
            check_answer(signed)
        except Answer as code:
            return f"the passkey's answer does not count ({code})"
        return None

    def enrolment(self, signed, signer, receipts):
        """Whose passkey it is, by the receipt of its enrolment where the file has it."""
        found = next((one for one in receipts if one.text("id") == signed["enrolment"]), None)
        if not found or "passkey" not in found.opened:
            return [f"its enrolment, receipt {signed['enrolment']}, is not opened"]
        passkey = found.opened["passkey"]
        passkey = passkey if isinstance(passkey, dict) else {}
        key = passkey["public_key"] if isinstance(passkey.get("public_key"), dict) else {}
        same = found.text("category") == "passkey_enrolled" and found.position < self.position
        same = same and passkey.get("credential_id") == signed["assertion"]["credential_id"]
        same = same and all(key.get(name) == value for name, value in signed["public_key"].items())
        name = passkey.get("principal")
        if same and is_text(name) and (signer is None or folded(name) == folded(signer)):
            return [f"enrolled before that for {name}, by receipt #{found.position}"]
        self.faults.append("its passkey is not the one that was enrolled for the person")
        return []

    def describe(self, claims):
        voter = self.voter()
        named = [f"{self.text('actor')} is {voter[1]}, by key {voter[0]}"] if voter else []
        about = f"{self.text('action')} {self.text('subject')}: {self.text('outcome')}, {self.text('timestamp')}"
        yield f"#{self.position} {self.text('id')} {about}"
        named += [BY_KEY] if self.text("action") == "approval.approved" and not self.is_signed() else []
        yield from (f"  {line}" for line in [*self.says, *named, *claims])


def is_canonical(content):
    try:
        value = parse(content)
        return not oddity(value) and canonical(value) == content.encode()
    except (ValueError, RecursionError):
        return False


def folded(name):
    return re.sub(" +", " ", unicodedata.normalize("NFKC", name).strip()).lower()


def check_people(name, receipts):
    """Who has decided about an approval: as many different people as it needs, and not who asked. Gives lines and faults."""
    lines, faults, voters = [], [], {}
    decisions = [one for one in receipts if one.text("action") == "approval.approved"]
    for decision in decisions:
        voter, actor = decision.voter(), decision.text("actor")
        if not voter:
            continue
        if actor in voters and folded(voters[actor][1]) != folded(voter[1]):
            faults.append(f"{name}: {actor} is two people")
        voters[actor] = voter
    names = [folded(principal) for _, principal in voters.values()]
    if len(set(names)) < len(names):
        faults.append(f"{name}: one person has decided under two names")
    if decisions:
        details = decisions[-1].details
        needed, named = as_javascript(details.get("needed")), details.get("approvers")
        needed, named = needed if is_count(needed) else 0, named if list_of(is_text)(named) else []
        count = len(set(named))
        if decisions[-1].text("outcome") == "approved" and count < max(needed, len(named)):
            faults.append(f"{name}: it says that it is approved, by {count} of {needed} people")
        else:
            known = sum(one in voters for one in named)
            lines.append(f"{name}: {count} of {needed} people have approved; {known} of them are opened")
    if voters:
        asked = next((one for one in receipts if one.text("action") == "approval.requested"), None)
        asker = asked.opened.get("requested_by") if asked else None
        if not is_text(asker):
            lines.append(f"{name}: who asked is not opened, so whether one of them did can't be told")
        elif any(asked.text("actor") == f"key:{key}" or folded(who) == folded(asker) for key, who in voters.values()):
            faults.append(f"{name}: who asked for it has approved it")
        else:
            lines.append(f"{name}: {asker} asked, who is none of those who are opened")
    return lines, faults


def check_votes(name, receipts):
    """Whether each vote could count when it was made: before an end, by a passkey where the rule takes one. Gives faults."""
    faults, end = [], None
    receipts = sorted(receipts, key=lambda one: one.position)
    takes_passkey = any(one.says_passkey() for one in receipts)
    asked = next((one.count("needed") for one in receipts if one.text("action") == "approval.requested"), None)
    for receipt in receipts:
        outcome, approvers = receipt.text("outcome"), receipt.details.get("approvers")
        if receipt.text("action") == "approval.approved":
            vote = f"{name}: the vote #{receipt.position}"
            if end:
                faults.append(f"{vote} was made after it was {end}")
            if takes_passkey and not receipt.is_signed():
                faults.append(f"{vote} is by a key alone, and its rule takes a passkey")
            if asked is not None and receipt.count("needed") != asked:
                faults.append(f"{vote} counts for another number of people")
            if list_of(is_text)(approvers) and len(set(approvers)) < len(approvers):
                faults.append(f"{vote} counts one person twice")
        if outcome in ("approved", "denied", "expired", "outdated"):
            end = outcome
        elif receipt.text("action") == "approval.reopened":
            end = None
    return faults


CLOCK_SECONDS = 300  # how far a receipt's time may be from the clock by which a grant ends


def check_grant(name, receipts, every):
    """A standing grant against the acts that went under it. Gives lines and faults."""
    made = next((one for one in receipts if one.is_grant()), None)
    uses = [one for one in receipts if one.is_use()]
    if not made:
        return [f"{name}: how it was made is not in the file, so what it allows can't be told"], check_numbers(name, uses, None)
    most, until = made.count("max_uses"), made.details.get("expires_at")
    end = seconds_of(until)
    if most is None or end is None:
        return [], [f"{name}: its receipt says neither how often nor until when"]
    terms = made.opened.get("terms")
    terms = terms if IS_TERMS(terms) else None
    said, faults, since = check_others(name, made, terms, every)
    revoked = next((one for one in receipts if one.text("action") == "grant.revoked"), None)
    faults += check_numbers(name, uses, most)
    hashes = {one["action_sha256"] for one in terms["acts"]} if terms else set()
    known = 0
    for use in uses:
        place, moment, action = f"{name}: the use #{use.position}", seconds_of(use.text("timestamp")), use.contents.get("action")
        if use.position < since:
            faults.append(f"{place} came before it was made and approved")
        if revoked and use.position > revoked.position:
            faults.append(f"{place} came after it was revoked")
        if moment is None or moment > end + CLOCK_SECONDS:
            faults.append(f"{place} came after its end")
        if terms and action is not None:
            if sha256(action.encode()).hex() in hashes:
                known += 1
            else:
                faults.append(f"{place} is of an act that it does not name")
    return [*said, f"{name}: it allows {most} of its acts until {until}; the file has {counted(len(uses), 'use')}, "
                   f"{known} of them opened, of acts that it names"], faults


def check_numbers(name, uses, most):
    """Each use has a number of its own, up to the most that the grant allows."""
    taken = set()
    for use in uses:
        number, place = use.count("use"), f"{name}: the use #{use.position}"
        if not number:
            yield f"{place} has no number"
        elif number in taken:
            yield f"{place} has the number of another one"
        elif most is not None and number > most:
            yield f"{place} is one more than {most}"
        taken.add(number)


def check_others(name, made, terms, every):
    """Lines, faults, and the position from which a grant allows anything: the others that it takes approved exactly it."""
    needed, about = made.count("needed"), made.details.get("approval_id")
    if needed == 1:
        return [], [], made.position
    approved = next((one for one in every if one.text("category") == "approval" and one.text("subject") == about
                     and one.text("outcome") == "approved"), None)
    if not approved:
        return [f"{name}: the approval of the others that it takes is not in the file"], [], made.position
    faults, action = [], approved.contents.get("action")
    if terms and action is not None and action.encode() != canonical({"kind": "standing_grant", "grant": terms}):
        faults.append(f"{name}: the others have approved another grant")
    if needed is None or approved.count("needed") is None or approved.count("needed") < needed - 1:
        faults.append(f"{name}: fewer others have approved it than it takes")
    said = f"{name}: the others that it takes have approved it, by receipt #{approved.position}"
    return [said], faults, max(made.position, approved.position)


def verify_evidence(path, trust):
    try:
        with open(path, "rb") as file:
            fields = parse(decode(file.read()))
        canonical(fields)
    except (OSError, TypeError, ValueError, RecursionError) as error:
        raise CannotTell(f"{path}: {getattr(error, 'strerror', None) or 'it is no file of opened evidence'}")
    if oddity(fields) or not IS_BUNDLE(as_javascript(fields)):
        raise CannotTell(f"{path}: It is no file of opened evidence, or says something twice")
    seen, trust.seen = trust.seen, None  # a checkpoint that is older than the newest one seen is as good
    wrong, lacking, checkpoints = judge(trust, fields["checkpoint"], fields["log_key"])
    checkpoint = checkpoints[0] if checkpoints else None
    faults = ["the file's checkpoint is not one of its log"] if wrong else []
    if seen and checkpoint and checkpoint.size == seen.size and checkpoint.root != seen.root:
        faults.append("you have seen another checkpoint of this size: the log was forked")
    absent = ["the file's checkpoint lacks what the trust file asks for"] if lacking and trust.log_key else []
    receipts = [Opened(one, checkpoint, trust) for one in fields["receipts"]]
    lines, signatures, approvals, grants = [], 0, {}, {}
    for receipt in receipts:
        claims = receipt.claims(receipts) if receipt.is_signed() else []
        signatures += bool(claims)
        lines += receipt.describe(claims)
        receipt.check_own_call()
        faults += [f"#{receipt.position}: {fault}" for fault in receipt.faults]
        absent += [f"#{receipt.position}: {reason}" for reason in receipt.absent]
        if receipt.text("category") == "approval":
            approvals.setdefault(receipt.text("subject"), []).append(receipt)
        about = receipt.details.get("grant" if receipt.is_use() else "grant_id")
        if is_text(about) and (receipt.is_use() or receipt.text("category") == "grant"):
            grants.setdefault(about, []).append(receipt)
    for name, about in approvals.items():
        said, wrong = check_people(name, about)
        lines += said
        faults += wrong + check_votes(name, about)
    for name, about in grants.items():
        said, wrong = check_grant(name, about, receipts)
        lines += said
        faults += wrong
    absent += [] if receipts else ["there is no receipt in the file"]
    lines += [NOT_CLAIMED] if signatures else []
    lines += [f"WRONG {fault}" for fault in faults] + [f"UNKNOWN {reason}" for reason in absent]
    lines.append(", ".join([
        counted(len(receipts), "receipt"), counted(signatures, "passkey signature"), counted(len(faults), "problem")]))
    print("\n".join(map(escape_invisible, lines)))
    return 1 if faults else 2 if absent else 0


def counted(number, what):
    return f"{number} {what}" + ("" if number == 1 else "s")


def read_trust(path):
    try:
        with open(path, "rb") as file:
            fields = parse(decode(file.read()))
        if oddity(fields):
            raise Wrong(oddity(fields))
        return Trust(fields or {})
    except (OSError, TypeError, ValueError) as error:
        raise CannotTell(f"{path}: {getattr(error, 'strerror', None) or 'it is no JSON, or not of a trust file'}")
    except Wrong as error:
        raise CannotTell(f"{path} is no trust file: {error}")


def write_pins(path, opened, keys, eras):
    """Pins what a ledger has shown, as the trust file of all verifiers."""
    if not keys:
        raise CannotTell("the ledger names no key that could be pinned")
    checkpoint = opened.checkpoint if isinstance(opened.checkpoint, str) else None
    has_log = bool(opened.log_key and checkpoint)
    fields = {
        "ledger_keys": [named(key) for key in keys],
        **({"log_key": opened.log_key} if has_log else {}),
        **(opened.witnesses if has_log else {}),
        "min_era": next((n for n, count in enumerate(eras, 1) if count), 1),
        **({"checkpoint": checkpoint} if has_log else {}),
    }
    Trust(fields)  # a file that this program takes
    with open(path, "x", encoding="utf-8") as file:
        file.write(json.dumps(fields, indent=2, ensure_ascii=False) + "\n")
    print(f"wrote {path}: compare its keys with another source before you rely on it")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("source", nargs="?", metavar="ADDRESS_OR_FILE", help=(
        "the ledger's address, or a file that /api/export gave: one page of all receipts, an array of them, or one a line; "
        "nothing else may be in it, and no name twice"))
    parser.add_argument("trust", nargs="?", metavar="TRUST_FILE", help=(
        "what you know of the ledger from elsewhere, sealoop.trust.json; without it, whatever it names is believed"))
    parser.add_argument("--evidence", metavar="FILE", help=(
        "verifies opened evidence in place of a ledger, and prints what is claimed, and what is not"))
    parser.add_argument("--pin", metavar="NEW_FILE", help=(
        "writes a new trust file with what the ledger shows, where everything holds"))
    parser.add_argument("--allow-unsigned", action="store_true", help=(
        'receipts of era 1 are not signed; with a trust file they count only with this, or with "min_era": 1'))
    given = parser.parse_args()
    if given.evidence and given.source and not given.trust:
        given.source, given.trust = None, given.source
    if bool(given.evidence) == bool(given.source) or given.evidence and given.pin:
        parser.error("give an address or a file, or --evidence and a file")
    return given


def run():
    given = arguments()
    if given.pin and os.path.exists(given.pin):
        raise CannotTell(f"the file {given.pin} exists already; give it as TRUST_FILE, without --pin")
    known = read_trust(given.trust) if given.trust else Trust()
    if given.allow_unsigned:
        known.min_era = 1
    return verify_evidence(given.evidence, known) if given.evidence else main(given.source, known, given.pin)


if __name__ == "__main__":
    try:
        sys.exit(run())
    except (CannotTell, Wrong) as error:
        print(printable(f"Cannot verify: {error}"), file=sys.stderr)
        sys.exit(2)
