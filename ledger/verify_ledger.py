#!/usr/bin/env python3
"""Verifies a sealoop ledger: every hash, signature and link, and that its signed checkpoint is of these receipts.

usage: verify_ledger.py ADDRESS_OR_FILE [TRUST_FILE] [--allow-unsigned]
ADDRESS_OR_FILE: the ledger's address, or a file that /api/export gave: one page of all receipts, an array of them, or one
a line; nothing else may be in it, and no name twice.
TRUST_FILE: what you know of the ledger from elsewhere (sealoop.trust.json); without it, whatever it names is believed.
--allow-unsigned: receipts of era 1 are not signed; with a trust file they count only with this, or with "min_era": 1.
Ends with 0 where everything holds, with 1 where something does not, and with 2 where that can't be told.
"""
import base64
import hashlib
import http.client
import json
import re
import sys
import urllib.error
import urllib.request
from collections import namedtuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

OUTSIDE = {
    "3.0": {"canonical_bytes", "signature", "hash_sha256"},
    "2.0": {"canonical_bytes", "signature", "receiver_attestation", "prev_hash"},
}
SUCCESSION = ("ledger_genesis", "ledger_adopted", "key_rotated")
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
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def is_point(encoded):
    """True for a canonical encoding that is not of a point of small order; whether it is on the curve is not checked."""
    y = int.from_bytes(encoded, "little") & (2 ** 255 - 1)
    return len(encoded) == 32 and y < P and y not in SMALL_ORDER_Y


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
        self.keys, self.log_key, self.total, self.data, self.faults = [], None, None, None, []
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
        version = entry.get("schema_version")
        if isinstance(version, (str, type(None))) and version in ERAS:
            self.eras[ERAS[version] - 1] += 1
        self.before, self.position = entry, stands + 1
        self.tree.add(entry)
        self.compare()

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


def main(source, trust):
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
    return 1 if broken else 2 if absent else 0


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


if __name__ == "__main__":
    try:
        arguments = [argument for argument in sys.argv[1:] if argument != "--allow-unsigned"]
        if len(arguments) not in (1, 2):
            raise CannotTell(f"there is nothing to verify\n\n{__doc__}")
        known = read_trust(arguments[1]) if len(arguments) == 2 else Trust()
        if "--allow-unsigned" in sys.argv:
            known.min_era = 1
        sys.exit(main(arguments[0], known))
    except (CannotTell, Wrong) as error:
        print(printable(f"Cannot verify: {error}"), file=sys.stderr)
        sys.exit(2)
