#!/usr/bin/env python3
"""The sealoop device agent: runs a command only if the public ledger proves that it was issued.

usage: python3 -I sealoop_agent.py COMMAND [--state FOLDER] [--user]

  enroll --server URL --code-file FILE --pins FILE [--name NAME] [--replaces DEV-…]   make this machine a device
         [--proxy http://HOST:PORT]   how the platform is reached, now and later; proxies of the environment are ignored
  run                            talk to the platform and run commands, in the foreground
  status                         what is pinned, accepted, running and waiting
  verify-bundle COMMAND_ID|FILE  what was approved, what ran, and the ids of its receipts
  release SEQ COMMAND_SEQUENCE   go on after the journal was rolled back, from numbers that the platform knows
  firewall RULES                 put nft rules in force, and take them back unless the platform is still reachable
  scan --targets LIST --ports LIST   find hosts by TCP connections and the neighbour table
  reach --targets LIST           measure how long TCP connections to ADDRESS:PORT take
  upgrade --sha256 HEX           replace this program by the one that the platform serves, if it has this hash
  check-folder FOLDER            tell whether the agent may be installed there: as root, in a folder of root's alone
  uninstall --yes                remove the agent's files from this machine

--user: talking and running are one user, so nothing protects the results from the talking half.
Needs Python 3.6 or later on Linux or macOS, and nothing else.
"""
import sys

if sys.platform not in ("linux", "darwin"):
    sys.exit("sealoop-agent: Cannot run on %s: the agent runs on Linux and macOS only" % sys.platform)

import argparse
import base64
import calendar
import collections
import concurrent.futures
import ctypes
import errno
import fcntl
import glob
import hashlib
import http.client
import ipaddress
import json
import os
import platform
import pwd
import queue
import random
import re
import resource
import select
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import threading
import time
import urllib.parse

VERSION = "1.0.0"

# Why a command was not run. The platform's list is contract/domain/devices.ts; a test holds them equal.
REFUSALS = (
    "bad_shape",
    "checkpoint_signature",
    "checkpoint_quorum",
    "checkpoint_older",
    "checkpoint_inconsistent",
    "record_invalid",
    "succession_invalid",
    "not_included",
    "commitment_mismatch",
    "other_device",
    "sequence_used",
    "expired",
    "wrong_receipt",
    "approval_missing",
    "out_of_bounds",
    "journal_rolled_back",
)

MAX_LINE = 2 * 1024 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 4300
MAX_RECORDS = 16
MAX_HASHES = 64
MAX_APPROVALS = 16
MAX_ARGUMENTS = 256
MAX_ARGUMENT_BYTES = 65536
MAX_TIMEOUT_SECONDS = 86400
MAX_OUTPUT_BYTES = 262144
MAX_RUNNING = 4
MAX_WAITING_STATEMENTS = 1000
MAX_KEPT_COMMANDS = 1000
MAX_SCANNED_ADDRESSES = 1024
MAX_SCANNED_PORTS = 64

COMMAND_ID = re.compile(r"CMD-[0-9a-f]{12}")
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
HEX_64 = re.compile(r"[0-9a-f]{64}")
HEX_128 = re.compile(r"[0-9a-f]{128}")


class Refusal(Exception):
    """A bundle that must not be run: a code of REFUSALS, and why in words."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code = code


class AgentError(Exception):
    """The agent can't do what a person asked for; the message says why and what would work."""


# ---------------------------------------------------------------------------------------------------------------------
# Ed25519, strict (RFC 8032): canonical encodings only, S below the order, neither key nor R of small order
# ---------------------------------------------------------------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def point_add(a, b):
    """Adds two points in extended coordinates (RFC 8032, section 5.1.4)."""
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def point_double(a):
    m, n, c = a[0] * a[0] % P, a[1] * a[1] % P, 2 * a[2] * a[2] % P
    h = m + n
    e, g = h - (a[0] + a[1]) ** 2 % P, m - n
    f = c + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def point_negate(a):
    return -a[0] % P, a[1], a[2], -a[3] % P


def is_small_order(point):
    for _ in range(3):
        point = point_double(point)
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0


def decode_point(data):
    """Decodes a point. Returns None for what is no canonical encoding of one."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P != 0:
        x = x * SQRT_M1 % P
        if (v * x * x - u) % P != 0:
            return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def encode_point(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def multiples(point):
    """Returns the first 16 multiples of a point, from 0."""
    table = [IDENTITY, point]
    while len(table) < 16:
        table.append(point_add(table[-1], point))
    return table


BASE = multiples(decode_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")))


def multiply(*terms):
    """Returns the sum of scalar times point over terms (scalar, multiples of the point)."""
    result = IDENTITY
    for shift in range(252, -1, -4):
        for _ in range(4):
            result = point_double(result)
        for scalar, table in terms:
            digit = scalar >> shift & 15
            if digit:
                result = point_add(result, table[digit])
    return result


def sha512_number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def verify_ed25519(public_key, message, signature):
    """Verifies as the platform does (ledger/crypto/ed25519.ts), by the equation without the cofactor."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, s = decode_point(public_key), int.from_bytes(signature[32:], "little")
    if key is None or s >= L or is_small_order(key):
        return False
    k = sha512_number(signature[:32], public_key, message) % L
    r = multiply((s, BASE), (k, multiples(point_negate(key))))
    return encode_point(r) == signature[:32] and not is_small_order(r)


def expand_seed(seed):
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
    return scalar, digest[32:]


def public_key_of(seed):
    return encode_point(multiply((expand_seed(seed)[0], BASE)))


def sign_in_python(seed, message):
    scalar, prefix = expand_seed(seed)
    r = sha512_number(prefix, message) % L
    start = encode_point(multiply((r, BASE)))
    k = sha512_number(start, public_key_of(seed), message) % L
    return start + ((r + k * scalar) % L).to_bytes(32, "little")


def open_libcrypto():
    """Returns signing by OpenSSL, which takes the same time for every key, or None where it can't be reached."""
    for name in ("libcrypto.so.3", "libcrypto.so.1.1"):
        try:
            lib = ctypes.CDLL(name)
            lib.EVP_PKEY_new_raw_private_key.restype = ctypes.c_void_p
            lib.EVP_PKEY_new_raw_private_key.argtypes = [
                ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
            lib.EVP_MD_CTX_new.restype = ctypes.c_void_p
            lib.EVP_DigestSignInit.argtypes = [ctypes.c_void_p] * 5
            lib.EVP_DigestSign.argtypes = [
                ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), ctypes.c_char_p, ctypes.c_size_t]
            lib.EVP_MD_CTX_free.argtypes = lib.EVP_PKEY_free.argtypes = [ctypes.c_void_p]
            lib.EVP_MD_CTX_free.restype = lib.EVP_PKEY_free.restype = None
        except (OSError, AttributeError):
            continue

        def sign(seed, message):
            key, context = lib.EVP_PKEY_new_raw_private_key(1087, None, seed, 32), lib.EVP_MD_CTX_new()
            try:
                out, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
                begun = key and context and lib.EVP_DigestSignInit(context, None, None, None, key) == 1
                if not begun or lib.EVP_DigestSign(context, out, ctypes.byref(size), message, len(message)) != 1:
                    raise OSError("libcrypto can't sign")
                return out.raw[:size.value]
            finally:
                lib.EVP_MD_CTX_free(context)
                lib.EVP_PKEY_free(key)
        return sign
    return None


class Key:
    """A signing key, read from a file that holds its seed as hex."""

    def __init__(self, seed):
        self.seed, self.public = seed, public_key_of(seed)
        self.signer = sign_in_python
        fast = open_libcrypto() if sys.platform == "linux" else None
        try:
            if fast and fast(seed, b"sealoop") == sign_in_python(seed, b"sealoop"):
                self.signer = fast
        except OSError:
            pass

    def sign(self, message):
        return self.signer(self.seed, message)

    @property
    def hex(self):
        return self.public.hex()


# ---------------------------------------------------------------------------------------------------------------------
# Canonical JSON, hashes, times
# ---------------------------------------------------------------------------------------------------------------------


def unique_fields(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a field is there twice")
    return value


def parse_integer(text):
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ValueError("an integer has too many digits")
    return int(text)


def refuse_constant(name):
    raise ValueError(name + " is no JSON")


def parse(text):
    """Parses JSON that has a canonical form. Raises ValueError for any other text."""
    try:
        value = json.loads(
            text, object_pairs_hook=unique_fields, parse_constant=refuse_constant, parse_int=parse_integer)
    except RecursionError:
        raise ValueError("nested too deep")
    check_canonical(value, 0)
    return value


def check_canonical(value, depth):
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text contains U+0000")
    elif isinstance(value, (dict, list)):
        if depth >= MAX_DEPTH:
            raise ValueError("nested deeper than %d levels" % MAX_DEPTH)
        for item in value:
            check_canonical(item, depth + 1)
        if isinstance(value, dict):
            for item in value.values():
                check_canonical(item, depth + 1)


def canonical(value):
    """Returns the canonical bytes. Raises ValueError for NaN, infinities and half a surrogate pair."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def unhex(text, digits=None):
    """Decodes lowercase hex. Raises ValueError for any other text."""
    if not isinstance(text, str) or not re.fullmatch(r"(?:[0-9a-f]{2})+", text) or len(text) != (digits or len(text)):
        raise ValueError("no lowercase hex")
    return bytes.fromhex(text)


def unbase64(text):
    """Decodes base64. Raises ValueError for any text that is not exactly the base64 of some bytes."""
    value = base64.b64decode(text, validate=True)
    if base64.b64encode(value).decode() != text:
        raise ValueError("no base64")
    return value


TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})")


def parse_time(text):
    """Returns seconds since 1970 of an ISO 8601 time with offset, from 1971 on. Raises ValueError."""
    match = TIME.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise ValueError("no time")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if not (1971 <= year and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        raise ValueError("no time")
    seconds = calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0))
    fraction, offset = match.group(7), match.group(8)
    if offset != "Z":
        shift = int(offset[1:3]) * 3600 + int(offset[4:6]) * 60
        seconds -= shift if offset[0] == "+" else -shift
    return seconds + (float("0." + fraction) if fraction else 0)


# ---------------------------------------------------------------------------------------------------------------------
# Notes and checkpoints (C2SP signed-note, tlog-checkpoint, tlog-cosignature), Merkle proofs (RFC 6962, RFC 9162)
# ---------------------------------------------------------------------------------------------------------------------

NOTE_KINDS = {1: "log", 4: "witness"}
DASH = "\u2014 "


class NoteKey:
    """A key of a log or of a witness, written as name+id+base64."""

    def __init__(self, text, kind):
        try:
            self.name, key_id, encoded = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", text).groups()
            value = unbase64(encoded)
            self.kind, self.public_key, self.id = NOTE_KINDS[value[0]], value[1:], bytes.fromhex(key_id)
            if self.kind != kind or len(value) != 33 or sha256(self.name.encode(), b"\n", value)[:4] != self.id:
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError("%r is no verifier key of a %s" % (text, kind))

    def find_signature(self, note):
        """Returns True where it has signed a note, None where it has not, False where a signature does not verify."""
        values = [value[4:] for name, value in note.signatures if name == self.name and value[:4] == self.id]
        return all(self.verify(note.text, value) for value in values) if values else None

    def verify(self, text, value):
        if self.kind == "witness":
            text = "cosignature/v1\ntime %d\n%s" % (int.from_bytes(value[:8], "big"), text)
            value = value[8:]
        return len(value) == 64 and verify_ed25519(self.public_key, text.encode(), value)


class Checkpoint:
    """A checkpoint of the log, not verified yet. Raises ValueError for any other text."""

    def __init__(self, note):
        try:
            text, lines = note.rsplit("\n\n", 1)
            self.note, self.text = note, text + "\n"
            self.origin, size, root = self.text.split("\n")[:3]
            found = [re.fullmatch(DASH + "([^ +]+) ([A-Za-z0-9+/]+={0,2})", line) for line in lines.split("\n")[:-1]]
            self.signatures = [(match.group(1), unbase64(match.group(2))) for match in found]
            self.size, self.root = int(re.fullmatch(r"0|[1-9][0-9]{0,15}", size).group()), unbase64(root)
            short = any(len(value) < 5 for _, value in self.signatures)
            if not self.origin or not note.endswith("\n") or len(self.root) != 32 or short:
                raise ValueError
        except (AttributeError, TypeError, ValueError):
            raise ValueError("the checkpoint is none")


def cosign(name, key, text, seconds):
    """Returns a cosignature line of a checkpoint's text (C2SP tlog-cosignature)."""
    stamp = seconds.to_bytes(8, "big")
    value = stamp + key.sign(("cosignature/v1\ntime %d\n%s" % (seconds, text)).encode())
    key_id = sha256(name.encode(), b"\n", b"\4", key.public)[:4]
    return DASH + name + " " + base64.b64encode(key_id + value).decode() + "\n"


def hash_leaf(data):
    return sha256(b"\0", data)


def hash_node(left, right):
    return sha256(b"\1", left, right)


def inclusion_root(leaf, index, size, proof):
    """Returns the root that a proof leads to, or None where its length is wrong (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        return None
    at, last, root = index, size - 1, leaf
    for item in proof:
        if last == 0:
            return None
        if at & 1 or at == last:
            root = hash_node(item, root)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            root = hash_node(root, item)
        at, last = at >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(old_size, old_root, new_size, new_root, proof):
    """Returns True where the larger tree begins with the smaller one (RFC 9162, section 2.1.4.2)."""
    if not 1 <= old_size <= new_size:
        return False
    if old_size == new_size:
        return not proof and old_root == new_root
    path = proof if old_size & (old_size - 1) else [old_root] + proof
    if not path:
        return False
    at, last = old_size - 1, new_size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = path[0]
    for item in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = hash_node(item, old), hash_node(item, new)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            new = hash_node(new, item)
        at, last = at >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


# ---------------------------------------------------------------------------------------------------------------------
# Receipts and the succession of the ledger's keys
# ---------------------------------------------------------------------------------------------------------------------

NOT_SIGNED = {"canonical_bytes", "signature", "hash_sha256"}
SIGNATURE_FIELDS = {"algorithm", "public_key", "value", "signs"}

# A key of the ledger, trusted from a position on; recovery: the key that may replace it, or None
LedgerKey = collections.namedtuple("LedgerKey", "start public recovery")


def parse_ledger_key(fields):
    start, recovery = fields["from_position"], fields.get("recovery_key")
    if type(start) is not int or start < 0 or set(fields) - {"public_key", "from_position", "recovery_key"}:
        raise ValueError("no ledger key")
    unhex(fields["public_key"], 64)
    if recovery is not None:
        unhex(recovery, 64)
    return LedgerKey(start, fields["public_key"], recovery)


def format_ledger_key(key):
    fields = {"public_key": key.public, "from_position": key.start}
    return dict(fields, recovery_key=key.recovery) if key.recovery else fields


def key_index(position, keys):
    return max((n for n, key in enumerate(keys) if key.start <= position), default=-1)


def verify_record(text, keys):
    """Verifies one receipt of era 3 by itself, where it says it stands. Returns its fields; raises ValueError."""
    entry = parse(text)
    if not isinstance(entry, dict) or entry.get("schema_version") != "3.0":
        raise ValueError("it is no receipt of schema version 3.0")
    try:
        stored, position, signature = unhex(entry["canonical_bytes"]), entry["chain_position"], entry["signature"]
        if canonical({name: value for name, value in entry.items() if name not in NOT_SIGNED}) != stored:
            raise ValueError("the stored fields do not give the canonical bytes")
        if sha256(stored).hex() != entry["hash_sha256"]:
            raise ValueError("the hash is not that of the canonical bytes")
        if type(position) is not int or position < 0 or not isinstance(entry["id"], str):
            raise ValueError("its position or id is none")
        if signature["algorithm"] != "Ed25519" or signature.get("signs", "canonical_bytes") != "canonical_bytes":
            raise ValueError("it is said to be signed in another way")
        index = key_index(position, keys)
        if set(signature) - SIGNATURE_FIELDS or index < 0 or signature["public_key"] != keys[index].public:
            raise ValueError("it is signed by another key than the one in force at its position")
        if not verify_ed25519(unhex(keys[index].public, 64), stored, unhex(signature["value"], 128)):
            raise ValueError("the signature does not verify")
        parse_time(entry["timestamp"])
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("a field that a receipt needs is missing or of another type: %s" % error)
    return entry


def follow_rotation(text, keys):
    """Returns the keys after a receipt that hands over to the next key. Raises ValueError."""
    claimed = parse(text)
    try:
        position, details, signer = claimed["chain_position"], claimed["details"], claimed["signature"]["public_key"]
        if claimed["category"] != "key_rotated" or type(position) is not int:
            raise ValueError("it introduces no key")
        new = parse_ledger_key({
            "public_key": details["new_key"], "from_position": position + 1, "recovery_key": details["recovery_key"]})
        if new in keys:
            return keys  # it is known already
        if position < keys[-1].start:
            raise ValueError("it is older than the newest key that is known")
        recovers = signer != details["old_key"] and signer == keys[-1].recovery
        after = list(keys) + ([LedgerKey(position, signer, signer)] if recovers else []) + [new]
        entry = verify_record(text, after)
        check_rotation(entry["details"], entry["prev_hash"], position, after, recovers)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("a field that it needs is missing or of another type: %s" % error)
    return after


def check_rotation(details, prev_hash, position, keys, recovers):
    old, new = keys[-3] if recovers else keys[-2], keys[-1]
    if not old.recovery or not new.recovery:
        raise ValueError("it changes the key of a ledger that has none of its own")
    if details["old_key"] != old.public:
        raise ValueError("it replaces another key than the one in force")
    if new.public in (old.public, old.recovery, new.recovery):
        raise ValueError("its new key is one that is in use already")
    if not recovers and new.recovery != old.recovery:
        raise ValueError("it changes the recovery key, which only the recovery key itself may")
    first = next(key.public for key in keys if key.recovery)
    statement = {
        "statement": "sealoop key_rotated",
        "first_key": details["first_key"],
        "from_position": position + 1,
        "new_key": new.public,
        "old_key": old.public,
        "position": position,
        "prev_hash": prev_hash,
    }
    same = details["first_key"] == first and details["from_position"] == position + 1
    proof = unhex(details["new_key_signature"], 128)
    if not same or not verify_ed25519(unhex(new.public, 64), canonical(statement), proof):
        raise ValueError("its new key has not signed that it takes over here")


class Trust:
    """What is pinned on this device: keys of the ledger, log, witnesses with quorum, approvers. Raises ValueError."""

    FIELDS = {"ledger_keys", "log_key", "witnesses", "quorum", "approvers"}

    def __init__(self, fields):
        try:
            if set(fields) != self.FIELDS or set(fields["approvers"]) - {"version"} != {"signatures_required", "keys"}:
                raise ValueError("its fields must be " + ", ".join(sorted(self.FIELDS)))
            self.fields = fields
            self.keys = [parse_ledger_key(key) for key in fields["ledger_keys"]]
            starts = [key.start for key in self.keys]
            if not self.keys or starts != sorted(set(starts)):
                raise ValueError("ledger_keys must be in the order of their positions, at least one")
            self.log_key = NoteKey(fields["log_key"], "log")
            self.witnesses = [NoteKey(text, "witness") for text in fields["witnesses"]]
            if len({key.public_key for key in self.witnesses}) < len(self.witnesses):
                raise ValueError("two witnesses have the same key")
            self.quorum = self.count(fields["quorum"], len(self.witnesses))
            self.approvers = list(fields["approvers"]["keys"])
            for key in self.approvers:
                unhex(key, 64)
            self.required = self.count(fields["approvers"]["signatures_required"], len(set(self.approvers)))
            self.version = fields["approvers"].get("version", 0)
            if type(self.version) is not int:
                raise ValueError("the version of the approvers must be an integer")
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("a field is missing or of another type: %s" % error)

    @staticmethod
    def count(value, most):
        if type(value) is not int or not 0 <= value <= most:
            raise ValueError("a number of signatures must be from 0 to %d" % most)
        return value

    def check_checkpoint(self, note):
        """Returns the checkpoint of a note that the pinned log has signed and enough pinned witnesses have cosigned."""
        try:
            checkpoint = Checkpoint(note)
        except ValueError as error:
            raise Refusal("checkpoint_signature", str(error))
        if checkpoint.origin != self.log_key.name or not self.log_key.find_signature(checkpoint):
            raise Refusal("checkpoint_signature", "the checkpoint is not signed by the pinned key of the log")
        results = [witness.find_signature(checkpoint) for witness in self.witnesses]
        if False in results:
            raise Refusal("checkpoint_quorum", "a cosignature of a pinned witness does not verify")
        if results.count(True) < self.quorum:
            raise Refusal("checkpoint_quorum", "the checkpoint needs %d cosignatures of pinned witnesses and has %d" % (
                self.quorum, results.count(True)))
        return checkpoint


def follow_checkpoint(trust, accepted, log):
    """Returns the checkpoint of a log that begins with the accepted one. Raises Refusal."""
    checkpoint = trust.check_checkpoint(log["checkpoint"])
    if checkpoint.size < accepted.size:
        raise Refusal("checkpoint_older", "the checkpoint is of %d, and one of %d was accepted" % (
            checkpoint.size, accepted.size))
    if checkpoint.size == accepted.size:
        if checkpoint.root != accepted.root:
            raise Refusal("checkpoint_inconsistent", "two checkpoints of %d contradict each other" % accepted.size)
        return checkpoint
    proof = [unhex(item, 64) for item in log["consistency"]]
    if not is_consistent(accepted.size, accepted.root, checkpoint.size, checkpoint.root, proof):
        raise Refusal("checkpoint_inconsistent", "the log does not begin with the checkpoint that was accepted")
    return checkpoint


# ---------------------------------------------------------------------------------------------------------------------
# Bundles: the checks before a command runs, in their order
# ---------------------------------------------------------------------------------------------------------------------

COMMAND_FIELDS = {
    "command_id", "device_id", "sequence", "argv", "user", "timeout_seconds", "output_bytes", "read_only", "script",
    "expires_at", "approval"}
BUNDLE_FIELDS = {"command", "salt", "records", "proofs", "approvals"}


def is_list(value, kind, least, most):
    return isinstance(value, list) and least <= len(value) <= most and all(isinstance(item, kind) for item in value)


def is_hex(value, digits):
    return isinstance(value, str) and len(value) == digits and re.fullmatch("[0-9a-f]+", value) is not None


def check_log_shape(log):
    if not isinstance(log, dict) or set(log) != {"checkpoint", "consistency"} or not isinstance(log["checkpoint"], str):
        raise Refusal("bad_shape", "log must have checkpoint and consistency")
    hashes = log["consistency"]
    if len(log["checkpoint"]) > 65536 or not is_list(hashes, str, 0, MAX_HASHES * 2):
        raise Refusal("bad_shape", "the checkpoint or its consistency proof is too long")
    if not all(is_hex(item, 64) for item in hashes):
        raise Refusal("bad_shape", "hashes must be 64 lowercase hex digits")


def check_shape(bundle):
    """Check 1: everything is there, of its type, and within its limits."""
    if not isinstance(bundle, dict) or set(bundle) - {"release"} != BUNDLE_FIELDS or not is_hex(bundle["salt"], 64):
        raise Refusal("bad_shape", "a bundle has " + ", ".join(sorted(BUNDLE_FIELDS)))
    records, proofs, approvals = bundle["records"], bundle["proofs"], bundle["approvals"]
    if not is_list(records, str, 1, MAX_RECORDS) or not is_list(proofs, dict, len(records), len(records)):
        raise Refusal("bad_shape", "records and proofs must be lists of one length, records as texts")
    for proof in proofs:
        if set(proof) != {"leaf", "hashes"} or not is_list(proof["hashes"], str, 0, MAX_HASHES):
            raise Refusal("bad_shape", "a proof has leaf and hashes")
        if not all(is_hex(item, 64) for item in proof["hashes"]):
            raise Refusal("bad_shape", "hashes must be 64 lowercase hex digits")
    if not is_list(approvals, dict, 0, MAX_APPROVALS):
        raise Refusal("bad_shape", "approvals must be a list")
    for item in approvals:
        if set(item) != {"key", "signature"} or not is_hex(item["key"], 64) or not is_hex(item["signature"], 128):
            raise Refusal("bad_shape", "an approval has key and signature, as hex")
    check_command_shape(bundle["command"])


def check_command_shape(command):
    if not isinstance(command, dict) or set(command) != COMMAND_FIELDS:
        raise Refusal("bad_shape", "a command has " + ", ".join(sorted(COMMAND_FIELDS)))
    texts = all(isinstance(command[name], str) for name in ("command_id", "device_id", "user", "expires_at"))
    numbers = all(type(command[name]) is int for name in ("sequence", "timeout_seconds", "output_bytes"))
    if not texts or not numbers or type(command["read_only"]) is not bool:
        raise Refusal("bad_shape", "a field of the command is of another type")
    if not COMMAND_ID.fullmatch(command["command_id"]) or not is_list(command["argv"], str, 1, MAX_ARGUMENTS):
        raise Refusal("bad_shape", "the command's id or arguments are none")
    script, approval = command["script"], command["approval"]
    if script is not None and not (isinstance(script, dict) and set(script) == {"id", "version", "sha256"}):
        raise Refusal("bad_shape", "a script has id, version and sha256")
    if approval is not None:
        fields = {"approval_id", "action_sha256", "needed"}
        if not isinstance(approval, dict) or set(approval) != fields or type(approval["needed"]) is not int:
            raise Refusal("bad_shape", "an approval has approval_id, action_sha256 and needed")
        if not isinstance(approval["approval_id"], str) or not is_hex(approval["action_sha256"], 64):
            raise Refusal("bad_shape", "a field of the approval is of another type")
    try:
        parse_time(command["expires_at"])
    except ValueError:
        raise Refusal("bad_shape", "expires_at is no time with offset")


def check_records(records, keys):
    """Check 4. Returns the fields of all records, and the keys of the ledger with those that the records introduce."""
    entries = []
    for text in records[1:]:
        try:
            keys = follow_rotation(text, keys)
            entries.append(parse(text))
        except ValueError as error:
            raise Refusal("succession_invalid", "a receipt does not hand over to the next key: %s" % error)
    try:
        return [verify_record(records[0], keys)] + entries, keys
    except ValueError as error:
        raise Refusal("record_invalid", "the receipt does not verify: %s" % error)


def check_inclusion(records, entries, proofs, checkpoint):
    """Check 5: each record is in the log."""
    for text, entry, proof in zip(records, entries, proofs):
        record = sha256(canonical(parse(text))).hex()
        leaf = canonical({"chain_position": entry["chain_position"], "id": entry["id"], "record_sha256": record})
        hashes = [unhex(item, 64) for item in proof["hashes"]]
        root = inclusion_root(hash_leaf(leaf), entry["chain_position"], checkpoint.size, hashes)
        if proof["leaf"] != leaf.decode() or root != checkpoint.root:
            raise Refusal("not_included", "receipt %s is not in the log of %d" % (entry["id"], checkpoint.size))


def commitment_of(salt, value):
    return sha256(unhex(salt, 64), canonical(value)).hex()


def committed(entry, name):
    """Returns the commitment that a receipt has to a private text, or None."""
    details = entry.get("details")
    commitments = details.get("commitments") if isinstance(details, dict) else None
    return commitments.get(name) if isinstance(commitments, dict) else None


def check_commitment(entry, salt, command):
    """Check 6: the receipt was made for exactly this command."""
    if committed(entry, "command") != commitment_of(salt, command):
        raise Refusal("commitment_mismatch", "receipt %s was issued for another command" % entry["id"])


def action_sha256(command):
    """Returns the hash that approvers sign: of the command as it was asked for, before it was numbered and issued."""
    return sha256(canonical({
        name: value for name, value in command.items() if name not in ("sequence", "approval")})).hex()


def approval_text(command):
    """Returns the bytes that an approver signs."""
    return b"sealoop-approval-v1\n" + canonical({
        "action_sha256": action_sha256(command),
        "approval_id": command["approval"]["approval_id"],
        "command_id": command["command_id"],
        "device_id": command["device_id"],
    })


def valid_approvers(bundle, trust):
    """Returns the pinned approvers whose signatures over this command are in the bundle."""
    if bundle["command"]["approval"] is None:
        return set()
    text = approval_text(bundle["command"])
    return {
        item["key"] for item in bundle["approvals"]
        if item["key"] in trust.approvers and verify_ed25519(
            unhex(item["key"], 64), text, unhex(item["signature"], 128))}


def find_label_fault(bundle, keys, checkpoint):
    """Returns why a command is not the script that it is labelled with; None: the ledger has released this script."""
    command, release = bundle["command"], bundle.get("release")
    if command["script"] is None:
        return "its arguments are no script's"
    try:
        entry = verify_record(release["record"], keys)
        check_inclusion([release["record"]], [entry], [release["proof"]], checkpoint)
        if entry["category"] != "script_release":
            raise ValueError("receipt %s releases no script" % entry["id"])
        if commitment_of(release["salt"], release["script"]) not in entry["details"]["commitments"].values():
            raise ValueError("receipt %s releases another script" % entry["id"])
        check_label(command, release["script"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, re.error, Refusal) as error:
        return "it is labelled %s without being that: %s" % (json.dumps(command["script"]), error)


def check_label(command, script):
    """Checks that a command is a script with values for its parameters. Raises ValueError."""
    label = {name: script[name] for name in ("id", "version", "sha256")}
    same = all(command[name] == script[name] for name in ("user", "output_bytes", "read_only"))
    if command["script"] != label or not same or command["timeout_seconds"] > script["timeout_seconds"]:
        raise ValueError("the released script has another hash, user or limit")
    if len(command["argv"]) != len(script["argv"]) or command["argv"][0] != script["argv"][0]:
        raise ValueError("the released script has another program or number of arguments")
    values = {}
    for argument, template in zip(command["argv"][1:], script["argv"][1:]):
        match = re.fullmatch(pattern_of(template, script["parameters"]), argument, re.ASCII)
        if not match:
            raise ValueError("the released script has no such argument: %s" % json.dumps(argument))
        for name, value in match.groupdict().items():
            odd = "\0\r" if script["parameters"][name]["lines"] else "\0\r\n"
            if values.setdefault(name, value) != value or value.startswith("-") or set(value) & set(odd):
                raise ValueError("%s can't be a value of %s" % (json.dumps(value), name))


def pattern_of(template, parameters):
    """Returns what matches an argument of a script. In a pattern, each name stands once."""
    parts, seen = re.split(r"\{([a-z0-9_]+)\}", template), set()
    for n in range(len(parts)):
        if n % 2 == 0:
            parts[n] = re.escape(parts[n])
        elif parts[n] in seen:
            parts[n] = "(?P=%s)" % parts[n]
        else:
            seen.add(parts[n])
            parts[n] = "(?P<%s>(?:%s))" % (parts[n], parameters[parts[n]]["pattern"])
    return "".join(parts)


def check_approvals(bundle, trust, label_fault):
    """Check 11: where signatures are pinned, enough pinned approvers have signed this very command."""
    if not trust.required:
        return
    command = bundle["command"]
    required = max(trust.required, 2 if label_fault else 1)
    if command["approval"] and command["approval"]["action_sha256"] != action_sha256(command):
        raise Refusal("approval_missing", "another action was approved than this command")
    found = len(valid_approvers(bundle, trust))
    if found < required:
        raise Refusal("approval_missing", "the command needs %d signatures of pinned approvers and has %d%s" % (
            required, found, ", as " + label_fault if label_fault else ""))


def check_bounds(command, may_switch_user):
    """Check 12: the user exists and may be used, the arguments and limits are sane."""
    size = sum(len(item.encode("utf-8", "replace")) for item in command["argv"])
    if not command["argv"][0] or size > MAX_ARGUMENT_BYTES or any("\0" in item for item in command["argv"]):
        raise Refusal("out_of_bounds", "the arguments are too long, or the program has no name")
    if command["argv"][0] == "sealoop-agent" and command["argv"][1:2] not in [[name] for name in REMOTE_COMMANDS]:
        raise Refusal("out_of_bounds", "the agent does this alone for others: %s" % ", ".join(REMOTE_COMMANDS))
    seconds, output = command["timeout_seconds"], command["output_bytes"]
    if not 1 <= seconds <= MAX_TIMEOUT_SECONDS or not 0 <= output <= MAX_OUTPUT_BYTES:
        raise Refusal("out_of_bounds", "timeout_seconds is at most %d, output_bytes at most %d" % (
            MAX_TIMEOUT_SECONDS, MAX_OUTPUT_BYTES))
    name = command["user"]
    if name == "agent":
        return
    try:
        account = pwd.getpwnam(name) if USER.fullmatch(name) else None
    except KeyError:
        account = None
    if account is None:
        raise Refusal("out_of_bounds", "there is no user %s on this machine" % name)
    if account.pw_uid != os.geteuid() and not may_switch_user:
        raise Refusal("out_of_bounds", "the agent may not run commands as %s" % name)


def check_issued(entry, command):
    """Check 10: the receipt is one that issues a command."""
    if entry.get("category") != "device_command" or entry.get("action") != "issued":
        raise Refusal("wrong_receipt", "receipt %s does not issue a command" % entry["id"])
    if entry["details"].get("command_id", command["command_id"]) != command["command_id"]:
        raise Refusal("wrong_receipt", "receipt %s names another command" % entry["id"])


# ---------------------------------------------------------------------------------------------------------------------
# Files, the journal, and time
# ---------------------------------------------------------------------------------------------------------------------


def flush(handle):
    """Returns once a file is on the disk; on macOS, fsync() alone leaves it in the disk's cache."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path, data):
    """Replaces a file: either the old or the new content is there after a crash, never a part."""
    # The talker owns its folder: root must not be led out of it.
    handle = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view):]
        flush(handle)
    finally:
        os.close(handle)
    os.rename(path + ".new", path)
    sync_folder(os.path.dirname(path))


def write_json(path, value):
    write_durably(path, canonical(value) + b"\n")


def read_json(path):
    """Reads a file that write_json() wrote; returns None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AgentError("%s is damaged: %s" % (path, error))


def check_owned(path):
    """Raises AgentError where somebody else than root could replace what root is to run, or to believe."""
    one = path = os.path.realpath(path)
    while os.geteuid() == 0:
        if os.path.exists(one):  # else root makes it
            info = os.lstat(one)
            # In a folder such as /tmp, others can't replace what is root's.
            is_shared = one != path and info.st_mode & stat.S_ISVTX
            if info.st_uid != 0 or info.st_mode & 0o022 and not is_shared:
                raise AgentError("others than root own %s or may write to it, and root would run what they put there; "
                                 "use a folder that is root's alone, as its parents are" % one)
        if one == os.path.dirname(one):
            return
        one = os.path.dirname(one)


def make_folder(path):
    os.makedirs(path, 0o700, exist_ok=True)
    return path


def read_key(path):
    """Reads a signing key. Refuses a file that others can read."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise AgentError("%s can be read by others; set its mode to 600" % path)
        return Key(unhex(file.read().decode().strip(), 64))


def make_key(path):
    """Makes a signing key, or reads the one that is there."""
    if not os.path.exists(path):
        write_durably(path, os.urandom(32).hex().encode() + b"\n")
    return read_key(path)


def lock_file(path, seconds=0):
    """Locks a file; returns its descriptor, or None where another process holds it for longer than some seconds."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = boot_clock() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError:
            if boot_clock() >= deadline:
                os.close(handle)
                return None
            time.sleep(0.05)


def boot_clock():
    """Returns seconds since the machine started, time asleep included. Setting the wall clock does not move it."""
    if sys.platform == "linux":
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", 7))
    return time.clock_gettime(time.CLOCK_MONOTONIC)  # unlike time.monotonic(), it goes on while macOS sleeps


def boot_id():
    """Returns a text that differs after each start of the machine."""
    if sys.platform == "linux":
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    return subprocess.check_output(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]).decode().strip()


# The clock moves by what most of so many receipts agree on.
MAX_CLOCK_RECEIPTS = 5


class DeviceClock:
    """The time by the ledger: what most of the last receipts agree on, and the boot clock since. Never too late.

    A single receipt moves nothing: one that is dated later than its neighbours in the log would stop this device.
    """

    def __init__(self, stored):
        self.boot = boot_id()
        stored = stored or {"boot": self.boot, "newest": None, "at": 0, "receipts": []}
        # What passed while the machine was off is unknown: in a new boot, time since the start is certain.
        is_same_boot = stored["boot"] == self.boot
        self.newest, self.at = stored["newest"], stored["at"] if is_same_boot else 0
        self.receipts = [  # of the newest: position in the log, time, and when that was learned
            (position, seconds, at if is_same_boot else 0) for position, seconds, at in stored["receipts"]]

    def now(self):
        return None if self.newest is None else self.newest + boot_clock() - self.at

    def learn(self, entry):
        """Takes the time of a verified receipt, once."""
        position, now = entry["chain_position"], boot_clock()
        if any(known == position for known, _, _ in self.receipts):
            return
        self.receipts = (self.receipts + [(position, parse_time(entry["timestamp"]), now)])[-MAX_CLOCK_RECEIPTS:]
        times = sorted(seconds + now - at for _, seconds, at in self.receipts)
        agreed = times[(len(times) - 1) // 2]
        if len(times) > 1 and (self.newest is None or agreed > self.now()):
            self.newest, self.at = agreed, now

    def has_passed(self, seconds, *certain):
        """Returns True where a time has passed by this clock, or by times that are certain to have been reached."""
        now = self.now()
        return any(one is not None and one >= seconds for one in (now,) + certain)

    def fields(self):
        receipts = [list(one) for one in self.receipts]
        return {"boot": self.boot, "newest": self.newest, "at": self.at, "receipts": receipts}


class Journal:
    """Lines that are hash-chained and on the disk before anybody acts on them. Only the newest may ever be torn."""

    def __init__(self, folder, only_reads=False):
        self.path, self.head_path = os.path.join(folder, "journal.ndjson"), os.path.join(folder, "head.json")
        self.seq, self.head, self.fault, self.lines, self.handle = 0, "", None, [], None
        marked = read_json(self.head_path)  # first: somebody else may be writing
        if not only_reads:
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with open(self.path, "rb") as file:
            data = file.read()
        end = data.rfind(b"\n") + 1
        if end < len(data) and not only_reads:  # torn by a crash before it was synced: nobody has acted on it
            os.ftruncate(self.handle, end)
            flush(self.handle)
        self.follow(data[:end], marked)

    def follow(self, data, marked):
        hashes = {0: ""}
        for text in data.split(b"\n")[:-1]:
            try:
                line = parse(text.decode())
                follows = line["seq"] == self.seq + 1 or line["kind"] == "released" and line["seq"] > self.seq
                if line["prev"] != self.head or not follows:
                    raise ValueError
            except (KeyError, TypeError, ValueError):
                self.fault = "line %d of the journal does not follow the one before" % (len(self.lines) + 1)
                return
            self.seq, self.head = line["seq"], sha256(text).hex()
            hashes[self.seq] = self.head
            self.lines.append(line)
        if marked is None and self.lines or marked and hashes.get(marked["seq"]) != marked["head"]:
            self.fault = "the journal ends before line %s, which was written" % (marked or {}).get("seq")

    def append(self, kind, fields, seq=None):
        """Writes a line to the disk. @param seq: None: the next one"""
        line = dict(fields, kind=kind, seq=seq or self.seq + 1, prev=self.head)
        line.update(boot=boot_id(), at_boot=int(boot_clock()))
        text = canonical(line)
        if os.write(self.handle, text + b"\n") != len(text) + 1:
            raise OSError(errno.ENOSPC, "the journal can't be written")
        flush(self.handle)
        self.seq, self.head = line["seq"], sha256(text).hex()
        write_json(self.head_path, {"seq": self.seq, "head": self.head})
        return line


# ---------------------------------------------------------------------------------------------------------------------
# The supervisor: a process of its own, so that a command outlives the runner and leaves its result on the disk
# ---------------------------------------------------------------------------------------------------------------------

# Commands of this program that may come from afar; a person gives the others, on this machine.
REMOTE_COMMANDS = ("firewall", "reach", "scan", "status", "upgrade")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KILL_GRACE_SECONDS = 3


def close_other_files(keep):
    for name in os.listdir("/dev/fd"):
        if int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                pass  # the listing's own


def start_supervisor(folder, command, lock):
    """Starts a command under a detached process. @param lock: held as long as that process lives"""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        close_other_files((0, 1, 2, lock))
        supervise(folder, command)
    finally:
        os._exit(0)


def become_user(name):
    """Returns what the child does between fork and exec."""
    account = None if name == "agent" else pwd.getpwnam(name)

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.umask(0o077)
        if account and account.pw_uid != os.geteuid():
            os.initgroups(account.pw_name, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
    return prepare


def clean_environment(command):
    account = pwd.getpwuid(os.geteuid()) if command["user"] == "agent" else pwd.getpwnam(command["user"])
    return {
        "PATH": PATH, "LANG": "C.UTF-8", "HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name,
        "SEALOOP_COMMAND_ID": command["command_id"]}


def program_of(folder, argv):
    """Returns what to execute. "sealoop-agent" is this program: an upgrade is a command like any other."""
    if argv[0] != "sealoop-agent":
        return argv
    state = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    # Behind all others, as the last one counts.
    return [sys.executable, "-I", os.path.abspath(__file__)] + argv[1:] + ["--state", state]


def supervise(folder, command):
    """Runs a command to its end or its timeout, and writes output and status.json, in this order."""
    output, total, timed_out = bytearray(), 0, False
    try:
        child = subprocess.Popen(
            [item.encode() for item in program_of(folder, command["argv"])], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", env=clean_environment(command), close_fds=True,
            start_new_session=True, preexec_fn=become_user(command["user"]))
    except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        text = "Cannot run %s: %s\n" % (command["argv"][0], error)
        return finish(folder, 126, False, text.encode("utf-8", "replace")[:command["output_bytes"]], None)
    deadline = boot_clock() + command["timeout_seconds"]
    stop_at = None  # when to kill what did not end by itself
    pipe = child.stdout.fileno()
    while True:
        ready = select.select([pipe], [], [], 0.2)[0]
        data = os.read(pipe, 65536) if ready else None
        if data == b"":
            break
        if data:
            total += len(data)
            output += data[:max(0, command["output_bytes"] - len(output))]
        now = boot_clock()
        if stop_at is None and (now >= deadline or has_ended(child)):
            timed_out = not has_ended(child)
            kill_group(child.pid, signal.SIGTERM)
            stop_at = now + (KILL_GRACE_SECONDS if timed_out else 1)
        elif stop_at is not None and now >= stop_at:
            break
    while not has_ended(child) and boot_clock() < (stop_at or deadline):
        time.sleep(0.02)
    timed_out = timed_out or not has_ended(child)
    kill_group(child.pid, signal.SIGKILL)
    code = child.wait()
    finish(folder, 128 - code if code < 0 else code, timed_out, bytes(output), total)


def has_ended(child):
    """Tells without reaping it: as long as it is a zombie, its number is nobody else's, and its group can be killed."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return child.poll() is not None
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(pid, number):
    try:
        os.killpg(pid, number)
    except OSError:
        pass  # nobody is left in it


def finish(folder, code, timed_out, output, total):
    salt = os.urandom(32)
    write_durably(os.path.join(folder, "output"), output)
    write_json(os.path.join(folder, "status.json"), {
        "status": "timed_out" if timed_out else "done" if code == 0 else "failed",
        "exit_code": code,
        "bytes": len(output),
        "bytes_written": len(output) if total is None else total,
        "salt": salt.hex(),
        "output_sha256": sha256(salt, output).hex(),
    })


# ---------------------------------------------------------------------------------------------------------------------
# The firewall: one nft table of the agent's own
# ---------------------------------------------------------------------------------------------------------------------

FIREWALL_CACHE_SECONDS = 30
MAX_WITHIN_SECONDS = 300
REPLACE_TABLE = "table inet sealoop\ndelete table inet sealoop\n"

# Rules as this program takes them: a part of nft's own syntax, in which there are no other tables and no files.
FIREWALL_TOKEN = re.compile(r"""
    (?P<blank> [ \t]+ | \#[^\n]* )
  | (?P<end> [;\n] )
  | (?P<open> { ) | (?P<close> } )
  | (?P<text> "[\x20\x21\x23\x25-\x5b\x5d-\x7e]{0,127}" )
  | (?P<operator> == | != | <= | >= | << | >> | [!<>=&|^,()] )
  | (?P<word> [A-Za-z0-9_.:/+*@\[\]-]+ )
""", re.VERBOSE)
FIREWALL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# Words by which nft would do something else than hold a rule, wherever they stand
FIREWALL_COMMANDS = frozenset(
    "create define delete destroy export flush import include insert list monitor redefine rename replace table "
    "undefine".split())
FIREWALL_BLOCKS = {  # in the table: what a line of each begins with
    "chain": frozenset(
        "type policy comment accept add ah arp cgroup comp continue counter cpu ct day dccp dnat drop dst dup esp ether "
        "exthdr fib frag fwd goto hbh hour icmp icmpv6 igmp iif iifgroup iifname iiftype ip ip6 ipsec jump l4proto last "
        "length limit log mark masquerade meta mh nfproto notrack oif oifgroup oifname oiftype osf pkttype priority "
        "protocol queue quota redirect reject return rt sctp skgid skuid snat socket synproxy tcp th time tproxy udp "
        "udplite update vlan".split()),
    "set": frozenset("type typeof flags elements timeout gc-interval size policy auto-merge comment counter".split()),
    "map": frozenset("type typeof flags elements timeout gc-interval size policy comment counter".split()),
    "counter": frozenset("packets comment".split()),
    "limit": frozenset("rate comment".split()),
    "quota": frozenset("over until comment".split()),
}


class FirewallRules:
    """The content of an nft table, parsed. Raises AgentError for what is no rules, or more than rules."""

    def __init__(self, text):
        self.tokens, at, line = collections.deque(), 0, 1
        while at < len(text):
            match = FIREWALL_TOKEN.match(text, at)
            if not match:
                raise AgentError("no firewall rules: line %d has %s" % (line, printable(repr(text[at]))))
            if match.lastgroup != "blank":
                self.tokens.append((match.lastgroup, match.group(), line))
            line, at = line + match.group().count("\n"), match.end()
        self.tokens.append(("over", "the end", line))
        self.lines = []
        while self.tokens[0][0] != "over":
            if self.tokens[0][0] == "end":
                self.tokens.popleft()
            else:
                self.take_block()

    @property
    def script(self):
        """The rules as nft is given them: written anew from what was understood."""
        return "table inet sealoop {\n%s\n}\n" % "\n".join(self.lines)

    def take(self, kind, what):
        found, text, line = self.tokens.popleft()
        if found != kind:
            raise AgentError("no firewall rules: line %d has %s where %s is due" % (line, repr(text), what))
        return text

    def take_block(self):
        line, kind = self.tokens[0][2], self.take("word", "a chain or a set")
        if kind not in FIREWALL_BLOCKS:
            raise AgentError("no firewall rules: line %d begins with %s; there are %s" % (
                line, kind, ", ".join(sorted(FIREWALL_BLOCKS))))
        name = self.take("word", "a name")
        if not FIREWALL_NAME.fullmatch(name) or name in FIREWALL_COMMANDS:
            raise AgentError("no firewall rules: line %d has %s where a name is due" % (line, name))
        self.take("open", "{")
        self.lines.append("%s %s {" % (kind, name))
        while self.tokens[0][0] != "close":
            if self.tokens[0][0] == "end":
                self.tokens.popleft()
            else:
                self.take_statement(FIREWALL_BLOCKS[kind])
        self.take("close", "}")
        self.lines.append("}")

    def take_statement(self, beginnings):
        words = []
        while self.tokens[0][0] not in ("end", "close"):
            kind, word, line = self.tokens[0]
            if not words and word not in beginnings or word in FIREWALL_COMMANDS:
                raise AgentError("no firewall rules: %s, in line %d, is not one" % (word, line))
            if kind == "over":
                raise AgentError("no firewall rules: line %d has the end within a rule" % line)
            if kind == "open":
                if words[-1] in ("jump", "goto"):
                    raise AgentError("no firewall rules: line %d has a chain without a name" % line)
                words += self.take_list()
            else:
                words.append(self.tokens.popleft()[1])
            if words[0] in ("add", "update") and not (words + ["@"])[1].startswith("@"):
                raise AgentError("no firewall rules: line %d adds to something else than a set" % line)
        self.lines.append(" ".join(words))

    def take_list(self):
        """Takes values in braces, which have no lines and no braces of their own."""
        words = [self.take("open", "{")]
        while self.tokens[0][0] != "close":
            kind, word, line = self.tokens.popleft()
            if kind in ("open", "over") or word == ";" or word in FIREWALL_COMMANDS:
                raise AgentError("no firewall rules: line %d has %s among values" % (line, word))
            if kind != "end":
                words.append(word)
        return words + [self.take("close", "}")]


def run_nft(*arguments, text=""):
    """Runs nft. Raises AgentError with what it says."""
    try:
        done = subprocess.Popen(
            ["nft"] + list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": PATH, "LANG": "C"})
    except OSError as error:
        raise AgentError("nft can't be run: %s" % error)
    output, errors = done.communicate(text.encode())
    if done.returncode != 0:
        raise AgentError("nft: %s" % errors.decode("utf-8", "replace").strip()[:2000])
    return output.decode()


def list_table():
    """Returns the agent's table, or an empty text where there is none."""
    is_there = any(line.split() == ["table", "inet", "sealoop"] for line in run_nft("list", "tables").splitlines())
    return run_nft("-s", "list", "table", "inet", "sealoop") if is_there else ""


def observe_firewall(folder):
    """Returns what rules are in force; drift: the agent's table is not as it was when it was put in force."""
    applied = read_json(os.path.join(folder, "firewall.json"))
    try:
        rules, backend = run_nft("-s", "list", "ruleset"), "nft"
        drift = applied and sha256(list_table().encode()).hex() != applied["observed_sha256"]
    except AgentError:
        try:
            rules, backend, drift = ask_program("iptables-save"), "iptables", None
        except (OSError, subprocess.SubprocessError):
            return None
        rules = re.sub(r"\[[0-9]+:[0-9]+\]|^#.*$", "", rules, flags=re.M)  # counters and times
    return {
        "backend": backend, "observed_sha256": sha256(rules.encode()).hex(), "drift": drift,
        "applied_sha256": applied and applied["rules_sha256"]}


def list_other_tables():
    """Returns all tables but the agent's own, by family and name, without what packets add to sets."""
    tables, name = {}, None
    for line in run_nft("-s", "list", "ruleset").splitlines(True):
        if line.startswith("table "):
            name = " ".join(line.split()[1:3])
            tables[name] = ""
        if name is not None:
            tables[name] += line
        if line.startswith("}"):
            name = None
    tables.pop("inet sealoop", None)
    return {name: DYNAMIC_SET.sub(without_elements, text) for name, text in tables.items()}


DYNAMIC_SET = re.compile(r"^\t(?:set|map) .*?^\t}$", re.M | re.S)


def without_elements(match):
    is_dynamic = re.search(r"^\t\tflags .*\b(?:dynamic|timeout)\b", match.group(), re.M)
    return re.sub(r"^\t\telements = .*?}$", "", match.group(), flags=re.M | re.S) if is_dynamic else match.group()


def change_own_table(script):
    """Runs a script that concerns the agent's own table. Where others are not as they were, they are put back."""
    before = list_other_tables()
    run_nft("-f", "-", text=script)
    after = list_other_tables()
    changed = sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))
    if changed:
        back = ["delete table %s\n" % name for name in changed if name in after]
        run_nft("-f", "-", text="".join(back + [before[name] for name in changed if name in before]))
        raise AgentError("not only the agent's own table was changed; put back was: %s" % ", ".join(changed))


def apply_firewall(options):
    """Puts rules in force. A guard takes them back unless this process has reached the platform with them."""
    folder = os.path.join(options.state, "runner")
    identity = read_json(os.path.join(folder, "identity.json"))
    gateway = Gateway(identity["server"], identity.get("proxy"))
    if not 1 <= options.within <= MAX_WITHIN_SECONDS:
        raise AgentError("--within is from 1 to %d" % MAX_WITHIN_SECONDS)
    table = FirewallRules(options.rules).script
    run_nft("-c", "-f", "-", text=REPLACE_TABLE + table)
    before, (reading, writing) = list_table(), os.pipe()
    guard = os.fork()
    if guard == 0:
        try:
            os.setsid()  # it outlives the command's timeout
            os.close(writing)
            kept = select.select([reading], [], [], options.within + 5)[0] and os.read(reading, 4)
            if kept != b"keep":
                run_nft("-f", "-", text=REPLACE_TABLE + before)
        finally:
            os._exit(0)
    os.close(reading)
    deadline = boot_clock() + options.within
    try:
        change_own_table(REPLACE_TABLE + table)
        while not is_reachable(gateway):
            if boot_clock() >= deadline:
                raise AgentError("the platform was not reachable within %d s; the rules from before are back" %
                                 options.within)
            time.sleep(0.5)
        os.write(writing, b"keep")
    finally:
        os.close(writing)
        os.waitpid(guard, 0)
    write_json(os.path.join(folder, "firewall.json"), {
        "rules_sha256": sha256(options.rules.encode()).hex(),
        "observed_sha256": sha256(list_table().encode()).hex()})
    say("The rules are in force, and the platform is reachable.")


def is_reachable(gateway):
    """Returns True where a new connection gets any answer."""
    try:
        gateway.close()
        gateway.exchange("HEAD", gateway.path("/"), None, {}, 2)
        return True
    except (OSError, http.client.HTTPException):
        return False


# ---------------------------------------------------------------------------------------------------------------------
# Discovery
# ---------------------------------------------------------------------------------------------------------------------

SCAN_TIMEOUT_SECONDS = 1
SCAN_PAUSE_SECONDS = 0.005


def scan(options):
    """Prints the hosts that accept TCP connections or are known as neighbours, as JSON."""
    addresses = []
    for target in options.targets.split(","):
        try:
            network = ipaddress.ip_network(target, strict=False)
        except ValueError as error:
            raise AgentError("%s is no address or network: %s" % (target, error))
        if network.num_addresses > MAX_SCANNED_ADDRESSES:
            raise AgentError("%s has more than %d addresses" % (target, MAX_SCANNED_ADDRESSES))
        addresses += [str(address) for address in network.hosts()] or [str(network.network_address)]
    addresses = list(dict.fromkeys(addresses))
    ports = sorted({int(port) for port in options.ports.split(",") if re.fullmatch("[0-9]{1,5}", port)})
    if len(addresses) > MAX_SCANNED_ADDRESSES or not 1 <= len(ports) <= MAX_SCANNED_PORTS or ports[-1] > 65535:
        raise AgentError("at most %d addresses and %d ports are scanned at once" % (
            MAX_SCANNED_ADDRESSES, MAX_SCANNED_PORTS))
    neighbours = {
        row[0] for row in (line.split() for line in read_text("/proc/net/arp").splitlines()[1:])
        if len(row) > 3 and row[2] != "0x0" and row[3] != "00:00:00:00:00:00"}
    found = {address: [] for address in addresses if address in neighbours}
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        tries = []
        for address in addresses:
            for port in ports:
                tries.append((address, port, pool.submit(accepts_connections, address, port)))
                time.sleep(SCAN_PAUSE_SECONDS)
        for address, port, result in tries:
            if result.result():
                found.setdefault(address, []).append(port)
    hosts = [{"address": address, "ports": found[address]} for address in addresses if address in found]
    say(canonical({"hosts": hosts, "scanned": len(addresses)}).decode())


def accepts_connections(address, port):
    try:
        socket.create_connection((address, port), SCAN_TIMEOUT_SECONDS).close()
        return True
    except OSError:
        return False


def reach(options):
    """Prints which addresses answer, and the shortest of three times that it took, as JSON."""
    targets = options.targets.split(",")
    matches = [re.fullmatch(r"\[?([0-9a-fA-F.:]+?)\]?:([0-9]{1,5})", target) for target in targets]
    if len(targets) > MAX_SCANNED_PORTS or not all(matches):
        raise AgentError("give at most %d targets, each as ADDRESS:PORT" % MAX_SCANNED_PORTS)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        times = list(pool.map(lambda match: measure(match.group(1), int(match.group(2))), matches))
    say(canonical({"peers": [
        {"target": target, "reachable": found is not None, "microseconds": found}
        for target, found in zip(targets, times)]}).decode())


def measure(address, port):
    """Returns microseconds until an answer, be it that nobody listens; None: there was no answer."""
    times = []
    for _ in range(3):
        begun = time.monotonic()
        try:
            socket.create_connection((address, port), SCAN_TIMEOUT_SECONDS).close()
        except ConnectionRefusedError:
            pass  # the machine answers
        except (OSError, OverflowError):
            continue
        times.append(int((time.monotonic() - begun) * 1e6))
    return min(times) if times else None


# ---------------------------------------------------------------------------------------------------------------------
# The runner: verifies, journals, runs. It opens no socket and reads no file of the talker's
# ---------------------------------------------------------------------------------------------------------------------

OFFER_AGAIN_SECONDS = 10
OVERDUE_SECONDS = 60
ASIDE_SECONDS = 3600
MAX_REFUSALS_PER_HOUR = 100
BODY_FIELDS = ("code", "exit_code", "bytes", "output_sha256", "destination_class")


class Runner:
    """The privileged half. Its files say what it has promised; a new process goes on from them."""

    def __init__(self, state, send, only_reads=False):
        self.folder, self.send = os.path.join(state, "runner"), send
        self.key = read_key(self.path("runner.key"))
        self.identity = read_json(self.path("identity.json"))
        self.trust = Trust(read_json(self.path("trust.json")))
        accepted = read_json(self.path("accepted.json"))
        if self.identity is None or accepted is None:
            raise AgentError("this is no device yet; run enroll first")
        self.accepted = Checkpoint(accepted["checkpoint"])
        self.keys = [parse_ledger_key(key) for key in accepted["keys"]]
        self.clock = DeviceClock(accepted["time"])
        # Before the journal: somebody else may be writing.
        acknowledged = read_json(self.path("acknowledged.json")) or {"seq": 0, "aside": []}
        self.acknowledged = acknowledged["seq"]  # the newest that is, and all before it but for those set aside
        self.aside = {seq: None for seq in acknowledged["aside"]}  # when each was: the platform does not take them
        self.journal = Journal(self.folder, only_reads)
        self.commands, self.refused, self.last_sequence = {}, set(), 0
        self.used = set()  # ids of commands that earlier journals know
        self.waiting = collections.deque()  # statements that are not acknowledged, oldest first
        self.offered, self.offered_at = None, None
        self.cosignature, self.firewall = (None, None), None
        self.refusals = collections.deque(maxlen=MAX_REFUSALS_PER_HOUR)  # when they were journaled
        if self.journal.fault is None and self.acknowledged > self.journal.seq:
            self.journal.fault = "the journal ends before line %d, whose receipt came" % self.acknowledged
        self.blocked = read_json(self.path("blocked.json")) or (
            {"reason": self.journal.fault} if self.journal.fault else None)
        if self.journal.fault is None:
            for line in self.journal.lines:
                self.replay(line)
        if not only_reads and self.blocked is None:
            self.resume()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def command_path(self, command_id, *names):
        return self.path("commands", command_id, *names)

    # What the journal says

    def replay(self, line):
        kind, one = line["kind"], self.commands.get(line.get("command_id"))
        if kind == "begun":
            if one is None:
                one = self.commands[line["command_id"]] = {"command": line["command"], "commitment": line["commitment"]}
            one.update(phase="begun", begun=line)
            self.last_sequence = max(self.last_sequence, line["command"]["sequence"])
        elif kind == "started":
            one.update(phase="started", started=line)
        elif kind == "ended":
            one.update(phase="ended", status=line["statement"]["status"], ended=line)
        elif kind == "egress":
            one.update(phase="egress", egress=line)
        elif kind == "delivered":
            one["phase"] = "delivered"
        elif kind == "refused":
            self.refused.add(line["bundle_sha256"])
        elif kind == "released":
            self.last_sequence = max(self.last_sequence, line["command_sequence"])
            self.used.update(line["command_ids"])
            self.acknowledged = max(self.acknowledged, line["seq"])
            self.waiting.clear()
            self.aside.clear()
        if "statement" in line and not self.is_acknowledged(line):
            self.waiting.append(line)

    def is_acknowledged(self, line):
        return line["seq"] <= self.acknowledged and line["seq"] not in self.aside

    def resume(self):
        """Goes on after a start. What was begun and provably not started begins anew where its receipt is not fresh."""
        for command_id, one in list(self.commands.items()):
            if one["phase"] == "begun":
                if self.is_acknowledged(one["begun"]) or one["begun"]["boot"] != boot_id():
                    self.begin(one["command"], one["commitment"])
            elif one["phase"] == "ended" and self.is_acknowledged(one["ended"]):
                self.announce_output(command_id, one)

        settled = [name for name, one in self.commands.items() if one["phase"] in ("ended", "delivered")]
        for command_id in settled[:-MAX_KEPT_COMMANDS]:
            shutil.rmtree(self.command_path(command_id), ignore_errors=True)  # the journal still knows it

    def state_statement(self, kind, fields, **journaled):
        """Journals a statement that the runner has signed, to be delivered until the ledger has it."""
        body = dict(fields, sequence=self.journal.seq + 1, nonce=os.urandom(16).hex())
        body["signature"] = self.key.sign(canonical(body)).hex()
        line = self.journal.append(kind, dict(journaled, statement=body))
        self.replay(line)
        self.offer()
        return line

    # Talking to the talker

    def offer(self, again=False):
        """Gives the oldest statement to the talker, one at a time."""
        if self.blocked or not again and self.offered is not None:
            return
        now = boot_clock()
        due = (line for line in self.waiting if (self.aside.get(line["seq"]) or -ASIDE_SECONDS) + ASIDE_SECONDS <= now)
        line = self.offered or next(due, None)
        if line:
            self.offered, self.offered_at = line, now
            self.send({"type": "statement", "body": line["statement"]})

    def save_acknowledged(self):
        write_json(self.path("acknowledged.json"), {"seq": self.acknowledged, "aside": sorted(self.aside)})

    def on_not_taken(self, message):
        """Sets a statement aside that the platform does not take as it is: those behind it go on, and it comes again later."""
        line = self.offered
        if line is None or line["seq"] != message["sequence"]:
            return
        self.aside[line["seq"]] = boot_clock()
        self.acknowledged = max(self.acknowledged, line["seq"])
        self.save_acknowledged()
        self.offered = None
        self.offer()

    def tell_state(self, replies=False):
        if self.cosignature[0] != self.accepted.text:
            line = cosign(self.identity["device_id"], self.key, self.accepted.text, int(self.clock.now() or 0))
            self.cosignature = self.accepted.text, line
        self.send({
            "type": "state",
            "replies": replies,  # to a log or a command
            "device_id": self.identity["device_id"],
            "journal": {"seq": self.journal.seq, "head": self.journal.head},
            "log_size": self.accepted.size,
            "checkpoint": self.accepted.note,
            "cosignature": self.cosignature[1],
            "approvers_version": self.trust.version,
            "blocked": self.blocked and self.blocked["reason"],
            "firewall": self.observe_firewall(),
        })

    def observe_firewall(self):
        """Returns what rules are in force, looked at now and then; only root can see them."""
        if os.geteuid() != 0 or self.identity["mode"] != "system":
            return None
        if self.firewall is None or boot_clock() > self.firewall[0] + FIREWALL_CACHE_SECONDS:
            self.firewall = boot_clock(), observe_firewall(self.folder)
        return self.firewall[1]

    def receive(self, text):
        """Handles one line of the talker's. A line that is no message is answered as such; nothing else happens."""
        try:
            message = parse(text)
            handler = getattr(self, "on_" + message["type"], None)
        except (KeyError, TypeError, ValueError) as error:
            return self.send({"type": "error", "reason": "it is no message: %s" % error})
        if handler is None:
            return self.send({"type": "error", "reason": "it is of an unknown type"})
        try:
            handler(message)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self.send({"type": "error", "reason": "a field is missing or of another type: %s" % error})

    def on_hello(self, _):
        self.tell_state()
        self.offer(again=True)
        for command_id, one in self.commands.items():
            if one["phase"] == "egress" and self.is_acknowledged(one["egress"]):
                self.send_output(command_id)

    def is_stale(self, message):
        """Returns True where a log was asked for before another one was accepted: its proof says nothing here."""
        asked_from = message.get("from", self.accepted.size)
        try:
            return self.accepted.size not in (asked_from, Checkpoint(message["log"]["checkpoint"]).size)
        except (KeyError, TypeError, ValueError):
            return False  # the checks refuse it

    def on_log(self, message):
        log = message.get("log")
        if self.is_stale(message):
            return self.tell_state(replies=True)
        try:
            check_log_shape(log)
            self.accept(follow_checkpoint(self.trust, self.accepted, log))
        except Refusal as refusal:
            self.refuse(refusal, {"log": log}, None)
            self.send({"type": "log_refused", "code": refusal.code, "reason": str(refusal)})
        self.tell_state(replies=True)

    def on_command(self, message):
        bundle = message.get("bundle")
        try:
            command_id = bundle["command"]["command_id"]
            command_id = command_id if COMMAND_ID.fullmatch(command_id) else None
        except (KeyError, TypeError):
            command_id = None
        answer = {"type": "result", "command_id": command_id}
        try:
            answer["result"] = "stale" if self.is_stale(message) else self.consider(message.get("log"), bundle)
        except Refusal as refusal:
            self.refuse(refusal, {"log": message.get("log"), "bundle": bundle}, command_id)
            answer.update(result="refused", code=refusal.code, reason=str(refusal))
        self.send(answer)
        self.tell_state(replies=True)

    def refuse(self, refusal, what, command_id):
        """Journals a refusal and has it sealed, once for the same bundle, and so many an hour: a talker may go wild."""
        digest = sha256(json.dumps(what, sort_keys=True).encode()).hex()
        if self.blocked or digest in self.refused or len(self.waiting) >= MAX_WAITING_STATEMENTS:
            return
        if len(self.refusals) == MAX_REFUSALS_PER_HOUR and boot_clock() < self.refusals[0] + 3600:
            return
        self.refusals.append(boot_clock())
        fields = {"action": "command_execution", "phase": "ended", "status": "refused", "code": refusal.code}
        if command_id:
            fields["command_id"] = command_id
        self.state_statement("refused", fields, bundle_sha256=digest, reason=str(refusal))

    # Commands

    def consider(self, log, bundle):
        """Checks a bundle in the order of docs/adr/0033-devices.md, and begins its command. Raises Refusal."""
        if self.blocked:
            raise Refusal("journal_rolled_back", self.blocked["reason"])
        try:
            check_log_shape(log)
            check_shape(bundle)
            command = bundle["command"]
            commitment = commitment_of(bundle["salt"], command)
            known = self.commands.get(command["command_id"])
            if known and known["commitment"] == commitment:
                return "known"
            if sum(self.is_running(one) for one in self.commands.values()) >= MAX_RUNNING:
                return "busy"
            keys = [format_ledger_key(key) for key in self.keys]
            self.verify(log, bundle)
        except ValueError as error:
            raise Refusal("bad_shape", str(error))
        make_folder(self.command_path(command["command_id"]))
        write_json(
            self.command_path(command["command_id"], "bundle.json"), {"log": log, "bundle": bundle, "keys": keys})
        self.begin(command, commitment)
        return "begun"

    def is_running(self, one):
        return one["phase"] == "started" or one["phase"] == "begun" and one["begun"]["seq"] not in self.aside

    def verify(self, log, bundle):
        command = bundle["command"]
        checkpoint = follow_checkpoint(self.trust, self.accepted, log)
        self.accept(checkpoint)
        entries, keys = check_records(bundle["records"], self.keys)
        check_inclusion(bundle["records"], entries, bundle["proofs"], checkpoint)
        self.keys = keys
        self.learn(entries[0])  # the others are sent again and again
        self.save_accepted()
        check_commitment(entries[0], bundle["salt"], command)
        if command["device_id"] != self.identity["device_id"]:
            raise Refusal("other_device", "the command is for %s" % command["device_id"])
        if command["sequence"] <= self.last_sequence:
            raise Refusal("sequence_used", "sequence %d is not above %d" % (command["sequence"], self.last_sequence))
        if command["command_id"] in self.commands or command["command_id"] in self.used:
            raise Refusal("sequence_used", "%s has had another number, and a command is run once" % command["command_id"])
        if self.clock.has_passed(parse_time(command["expires_at"]), parse_time(entries[0]["timestamp"])):
            raise Refusal("expired", "the command has expired at %s" % command["expires_at"])
        check_issued(entries[0], command)
        check_approvals(bundle, self.trust, find_label_fault(bundle, self.keys, checkpoint))
        check_bounds(command, os.geteuid() == 0 and self.identity["mode"] == "system")

    def learn(self, entry):
        """Takes the time of a receipt, which counts at once against what has begun and does not run yet."""
        self.clock.learn(entry)
        for one in self.commands.values():
            if one["phase"] == "begun":
                one["stated"] = max(one.get("stated", 0), parse_time(entry["timestamp"]))

    def accept(self, checkpoint):
        if checkpoint.size > self.accepted.size:
            self.accepted = checkpoint
            self.save_accepted()

    def save_accepted(self):
        write_json(self.path("accepted.json"), {
            "checkpoint": self.accepted.note,
            "keys": [format_ledger_key(key) for key in self.keys],
            "time": self.clock.fields(),
        })

    def begin(self, command, commitment):
        fields = {
            "action": "command_execution", "command_id": command["command_id"], "phase": "begun", "status": "begun"}
        self.state_statement(
            "begun", fields, command_id=command["command_id"], command=command, commitment=commitment)

    def on_sealed(self, message):
        """Takes the receipt of the statement that was offered, and goes on with what waited for it."""
        line = self.offered
        if line is None or line["seq"] != message["sequence"]:
            return  # an answer to an earlier offer
        body = line["statement"]
        try:
            keys = self.keys
            for text in message.get("succession", []):
                keys = follow_rotation(text, keys)
            entry = verify_record(message["record"], keys)
            if committed(entry, "statement") != commitment_of(message["salt"], body):
                raise ValueError("it is the receipt of another statement")
        except (KeyError, TypeError, ValueError) as error:
            return self.send({"type": "receipt_refused", "sequence": line["seq"], "reason": str(error)})
        self.learn(entry)
        self.save_accepted()
        self.keep_receipt(body, message)
        self.acknowledged = max(self.acknowledged, line["seq"])
        self.aside.pop(line["seq"], None)
        self.save_acknowledged()
        self.waiting.remove(line)
        self.offered = None
        one = self.commands.get(body.get("command_id"))
        if one and one.get("begun") is line and one["phase"] == "begun":
            self.start(one, parse_time(entry["timestamp"]))
        elif one and one.get("ended") is line and one["phase"] == "ended":
            self.announce_output(body["command_id"], one)
        elif one and one.get("egress") is line:
            self.send_output(body["command_id"])
        self.offer()
        self.tell_state()

    def keep_receipt(self, body, message):
        """Keeps the receipt beside its command, for people."""
        path = self.command_path(body.get("command_id", ""), "receipts.json")
        if "command_id" in body and os.path.isdir(os.path.dirname(path)):
            receipts = read_json(path) or []
            write_json(path, receipts + [{"body": body, "record": message["record"], "salt": message["salt"]}])

    def on_conflict(self, message):
        """The ledger has another statement under this number: this journal is an old copy, or a clone's."""
        if self.offered and self.offered["seq"] == message["sequence"]:
            self.block("the ledger has another statement under number %d" % message["sequence"])
        self.tell_state()

    def block(self, reason):
        """Runs nothing more until a person has decided."""
        self.blocked = {"reason": reason}
        write_json(self.path("blocked.json"), self.blocked)

    def start(self, one, sealed_at):
        """Starts a command whose begun receipt is back, unless it has expired meanwhile."""
        command, begun, expires = one["command"], one["begun"], parse_time(one["command"]["expires_at"])
        if self.clock.has_passed(expires, one["stated"]):
            return self.end(command["command_id"], {"status": "expired"})
        # The receipt was made after the line was written, so that it is at most this late now.
        if sealed_at + boot_clock() - begun["at_boot"] >= expires:
            return self.begin(command, one["commitment"])
        folder = make_folder(self.command_path(command["command_id"]))
        lock = lock_file(os.path.join(folder, "lock"))
        if lock is None or os.path.exists(os.path.join(folder, "status.json")):
            return self.block("%s has run before, and the journal does not say so" % command["command_id"])
        self.replay(self.journal.append("started", {"command_id": command["command_id"]}))
        start_supervisor(folder, command, lock)
        os.close(lock)

    def end(self, command_id, fields):
        body = {"action": "command_execution", "command_id": command_id, "phase": "ended", "status": fields["status"]}
        body.update((name, fields[name]) for name in BODY_FIELDS if fields.get(name) is not None)
        self.state_statement("ended", body, command_id=command_id)

    def tick(self):
        """Looks at what runs and what waits."""
        if self.blocked:
            return
        for command_id, one in list(self.commands.items()):
            if one["phase"] == "started":
                self.look_after(command_id, one)
            elif one["phase"] == "begun" and self.clock.has_passed(parse_time(one["command"]["expires_at"])):
                self.end(command_id, {"status": "expired"})
        if self.offered is None or boot_clock() > self.offered_at + OFFER_AGAIN_SECONDS:
            self.offer(again=True)

    def look_after(self, command_id, one):
        folder = make_folder(self.command_path(command_id))
        path = os.path.join(folder, "status.json")
        if not os.path.exists(path):
            lock = lock_file(os.path.join(folder, "lock"))
            due = one["started"]["at_boot"] + one["command"]["timeout_seconds"] + OVERDUE_SECONDS
            if lock is None and boot_clock() < due:
                return  # its supervisor lives
            if lock is not None:
                os.close(lock)
        try:
            status = read_json(path)  # once more: the supervisor may have ended in between
        except AgentError as error:
            log(error)
            status = None
        self.end(command_id, status or {"status": "unknown"})

    def announce_output(self, command_id, one):
        """States that output is about to leave this machine; it leaves once that is sealed."""
        status = read_json(self.command_path(command_id, "status.json"))
        if status and status["bytes"] and one["status"] != "unknown":
            self.state_statement("egress", {
                "action": "data_egress", "command_id": command_id, "phase": "begun", "status": "sending",
                "bytes": status["bytes"], "output_sha256": status["output_sha256"], "destination_class": "platform",
            }, command_id=command_id)

    def send_output(self, command_id):
        try:
            status = read_json(self.command_path(command_id, "status.json"))
            with open(self.command_path(command_id, "output"), "rb") as file:
                output = base64.b64encode(file.read()).decode()
        except (AgentError, OSError) as error:
            return log("the output of %s can't be read: %s" % (command_id, error))
        self.send({"type": "output", "command_id": command_id, "salt": status["salt"], "output": output})

    def on_delivered(self, message):
        one = self.commands.get(message["command_id"])
        if one and one["phase"] == "egress":
            self.replay(self.journal.append("delivered", {"command_id": message["command_id"]}))

    def on_approvers(self, message):
        """Takes other approvers, if pinned ones have signed them."""
        update = message["update"]
        signed = {name: update[name] for name in ("approvers", "version")}
        signed["org_id"] = self.identity["org_id"]
        text = b"sealoop-approvers-v1\n" + canonical(signed)
        signers = {
            item["key"] for item in update["signatures"][:MAX_APPROVALS]
            if item["key"] in self.trust.approvers and verify_ed25519(
                unhex(item["key"], 64), text, unhex(item["signature"], 128))}
        fields = dict(self.trust.fields, approvers=dict(update["approvers"], version=update["version"]))
        trust = Trust(fields)
        taken = len(signers) >= max(1, self.trust.required) and trust.version == self.trust.version + 1
        if taken:
            write_json(self.path("trust.json"), fields)
            self.trust = trust
            self.journal.append("approvers", {"version": trust.version, "signed_by": sorted(signers)})
        self.tell_state()  # first, as the next heartbeat says which version is pinned
        # Where the acknowledgement was lost, the platform sends them once more.
        self.send({"type": "approvers", "version": trust.version, "taken": taken or fields == self.trust.fields})


class Lines:
    """Reads lines from a pipe without ever waiting for the end of one."""

    def __init__(self, handle):
        self.handle, self.buffer, self.skips = handle, bytearray(), False

    def read(self, timeout):
        """Returns the lines that came within a time, or None where the other side is gone."""
        if not select.select([self.handle], [], [], timeout)[0]:
            return []
        data = os.read(self.handle, 65536)
        if not data:
            return None
        self.buffer += data
        *lines, rest = self.buffer.split(b"\n")
        if self.skips and lines:
            lines, self.skips = lines[1:], False
        if len(rest) > MAX_LINE:
            rest, self.skips = bytearray(), True
        self.buffer = bytearray(rest)
        return [line.decode("utf-8", "surrogateescape") for line in lines if 0 < len(line) <= MAX_LINE]


def send_line(handle, message):
    data = memoryview(json.dumps(message).encode() + b"\n")
    while data:
        data = data[os.write(handle, data):]


def mark_of_program():
    info = os.stat(os.path.abspath(__file__))
    return info.st_ino, info.st_size, info.st_mtime_ns


def serve_runner(state, source, sink):
    """Runs the runner until its talker is gone, or the program was replaced by another version."""
    mark = mark_of_program()
    lock = lock_file(os.path.join(state, "runner", "lock"), 2)  # a supervisor that is being made still holds it
    if lock is None:
        raise AgentError("another runner uses %s" % state)
    try:
        runner = Runner(state, lambda message: send_line(sink, message))
        lines = Lines(source)
        while True:
            busy = any(one["phase"] in ("begun", "started") for one in runner.commands.values())
            received = lines.read(0.1 if busy else 2)
            if received is None:
                return
            for text in received:
                runner.receive(text)
            runner.tick()
            if mark_of_program() != mark:
                return  # another process goes on from the files, with the new program
    except BrokenPipeError:
        pass  # the talker is gone
    finally:
        os.close(lock)


# ---------------------------------------------------------------------------------------------------------------------
# Inventory: whole numbers and texts only, so that both sides hash the same bytes. None: it could not be found out
# ---------------------------------------------------------------------------------------------------------------------

MEBIBYTE = 1024 * 1024
MAX_LISTED = 500
MAX_SECTION_BYTES = 65536


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def ask_program(*argv):
    """Returns what a program prints. Raises OSError and SubprocessError."""
    return subprocess.check_output(list(argv), stderr=subprocess.DEVNULL, timeout=60).decode("utf-8", "replace")


def coarse(value, step):
    """Rounds what changes all the time, so that it is not sent anew at each heartbeat."""
    return value // step * step


def find_os():
    names = dict(
        (name, value.strip("'\"")) for name, _, value in
        (line.partition("=") for line in read_text("/etc/os-release").splitlines()) if value)
    system = platform.mac_ver()[0] if sys.platform == "darwin" else names.get("VERSION_ID", "")
    return {
        "id": "macos" if sys.platform == "darwin" else names.get("ID", "linux"),
        "version": system,
        "name": names.get("PRETTY_NAME", platform.system()),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "support_end": names.get("SUPPORT_END"),
    }


def find_cpu():
    models = re.findall(r"^model name\s*:\s*(.+)$", read_text("/proc/cpuinfo"), re.M)
    return {"model": models[0] if models else platform.machine(), "count": os.cpu_count() or 1,
            "load_percent": coarse(int(os.getloadavg()[0] * 100 / (os.cpu_count() or 1)), 10)}


def find_memory():
    found = {name: int(value) * 1024 for name, value in re.findall(
        r"^(\w+):\s+([0-9]+) kB$", read_text("/proc/meminfo"), re.M)}
    if "MemTotal" not in found:
        return None
    return {
        "total_bytes": found["MemTotal"],
        "available_bytes": coarse(found.get("MemAvailable", 0), 64 * MEBIBYTE),
        "swap_total_bytes": found.get("SwapTotal", 0),
        "swap_free_bytes": coarse(found.get("SwapFree", 0), 64 * MEBIBYTE),
    }


def find_disks():
    found = {}
    for line in read_text("/proc/self/mounts").splitlines() or ["disk / disk"]:
        device, mount, kind = line.split(" ")[:3]
        if not device.startswith("/dev/") and mount != "/" or device in found:
            continue
        try:
            space = os.statvfs(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), mount))
        except OSError:
            continue
        found[device] = {
            "device": device, "mount": mount, "type": kind, "size_bytes": space.f_blocks * space.f_frsize,
            "free_bytes": coarse(space.f_bavail * space.f_frsize, 64 * MEBIBYTE)}
    return sorted(found.values(), key=lambda disk: disk["mount"])[:MAX_LISTED]


def find_interfaces():
    addresses = collections.defaultdict(list)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for _, name in socket.if_nameindex():
            addresses[name] = []
            if sys.platform != "linux":
                continue
            try:
                answer = fcntl.ioctl(handle, 0x8915, name.encode()[:15].ljust(256, b"\0"))  # SIOCGIFADDR
                addresses[name].append(socket.inet_ntoa(answer[20:24]))
            except OSError:
                pass  # it has no IPv4 address
    for line in read_text("/proc/net/if_inet6").splitlines():
        digits, name = line.split()[0], line.split()[-1]
        addresses[name].append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits)))
    return [{"name": name, "addresses": sorted(addresses[name])} for name in sorted(addresses)][:MAX_LISTED]


def find_listeners():
    """Lists what is listened on, from /proc; None where there is no such list."""
    found = set()
    if not os.path.exists("/proc/net/tcp"):
        return None
    for file, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        protocol = file[:3]
        for line in read_text("/proc/net/" + file).splitlines()[1:]:
            fields = line.split()
            if len(fields) < 4 or fields[3] != state or protocol == "udp" and not fields[2].endswith(":0000"):
                continue
            digits, port = fields[1].split(":")
            words = bytes.fromhex(digits)
            raw = b"".join(words[at:at + 4][::-1] if sys.byteorder == "little" else words[at:at + 4]
                           for at in range(0, len(words), 4))
            family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
            found.add((protocol, socket.inet_ntop(family, raw), int(port, 16)))
    names = ("protocol", "address", "port")
    return [dict(zip(names, listener)) for listener in sorted(found)][:MAX_LISTED]


PACKAGE_SOURCES = ("/var/lib/dpkg/status", "/lib/apk/db/installed")
packages_cache = {}


def hash_packages():
    """Returns the hash of the installed packages with their versions, or None where there is no list."""
    for path in PACKAGE_SOURCES:
        try:
            info = os.stat(path)
        except OSError:
            continue
        mark = (path, info.st_ino, info.st_size, info.st_mtime_ns)
        if mark not in packages_cache:
            packages_cache.clear()
            packages_cache[mark] = sha256(canonical(list_packages(path))).hex()
        return packages_cache[mark]
    try:
        return sha256(canonical(sorted(ask_program("rpm", "-qa").split()))).hex()
    except (OSError, subprocess.SubprocessError):
        return None


def list_packages(path):
    found = []
    for paragraph in read_text(path).split("\n\n"):
        fields = dict(line.split(":", 1) for line in paragraph.split("\n") if ":" in line[1:])
        if "P" in fields:
            found.append(fields["P"] + " " + fields.get("V", ""))
        elif fields.get("Status", "").strip().endswith(" installed"):
            found.append(" ".join(fields.get(name, "").strip() for name in ("Package", "Version", "Architecture")))
    return sorted(found)


def find_services():
    if not os.path.isdir("/run/systemd/system"):
        return None
    try:
        text = ask_program(
            "systemctl", "list-units", "--type=service", "--all", "--plain", "--no-legend", "--no-pager")
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [line.split(None, 4) for line in text.splitlines()]
    return [{"name": row[0], "active": row[2], "sub": row[3]} for row in rows if len(row) >= 4][:MAX_LISTED]


def is_root_encrypted():
    """Returns True where the root file system lies on an encrypted disk, None where it is on no disk of its own."""
    numbers = [line.split()[2] for line in read_text("/proc/self/mountinfo").splitlines() if line.split()[4] == "/"]
    paths = ["/sys/dev/block/" + number for number in numbers[-1:]]
    if not paths or not os.path.isdir(paths[0]):
        return None
    for path in paths:  # grows: what lies below
        if read_text(path + "/dm/uuid").startswith("CRYPT-"):
            return True
        below = path + "/slaves"
        paths += [os.path.join(below, name) for name in (os.listdir(below) if os.path.isdir(below) else [])]
    return False


def is_firewall_active():
    """Returns True where a known firewall is in force. Its absence can't be told without root."""
    if re.search(r"^ENABLED=yes", read_text("/etc/ufw/ufw.conf"), re.M):
        return True
    active = [unit for unit in find_services() or [] if unit["active"] == "active"]
    return any(unit["name"] in ("nftables.service", "firewalld.service") for unit in active) or None


def read_sshd(path="/etc/ssh/sshd_config", depth=0):
    """Returns the options of the SSH server before any Match, the first of each as it counts."""
    found = {}
    for line in read_text(path).splitlines():
        name, _, value = line.strip().replace("=", " ", 1).partition(" ")
        name, value = name.lower(), value.strip().strip('"')
        if name == "match":
            break
        for file in sorted(glob.glob(os.path.join("/etc/ssh", value))) if name == "include" and depth < 4 else ():
            for option, first in read_sshd(file, depth + 1).items():
                found.setdefault(option, first)
        if name and name[0] != "#":
            found.setdefault(name, value.lower())
    return found


def find_sshd():
    if not os.path.exists("/etc/ssh/sshd_config"):
        return {"installed": False}
    with open("/etc/ssh/sshd_config", encoding="utf-8", errors="replace"):
        pass  # else what is not readable would look like the defaults
    options = read_sshd()
    return {
        "installed": True,
        "password_authentication": options.get("passwordauthentication", "yes"),
        "permit_root_login": options.get("permitrootlogin", "prohibit-password"),
    }


def is_time_synchronized():
    """Returns what the kernel says of the machine's clock, which the agent itself does not use."""
    if sys.platform != "linux":
        return None
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    return None if state < 0 else state != 5  # TIME_ERROR


updates_cache = {"updates": None}


def refresh_updates():
    """Counts pending updates by the lists that the machine has fetched; slow, so beside the heartbeats."""
    lists = glob.glob("/var/lib/apt/lists/*_Packages*")
    if not lists:
        return
    try:
        planned = re.findall(r"^Inst (.+)$", ask_program("apt-get", "-s", "-o", "Debug::NoLocking=1", "upgrade"), re.M)
    except (OSError, subprocess.SubprocessError):
        return
    updates_cache["updates"] = {
        "pending": len(planned),
        "security": sum("security" in line.lower() for line in planned),
        "listed_at": int(max(os.stat(path).st_mtime for path in lists)),
    }


def find_posture():
    """Returns facts that the platform's policy judges. None: unknown, which is never a pass."""
    facts = {
        "disk_encrypted": is_root_encrypted,
        "firewall_active": is_firewall_active,
        "sshd": find_sshd,
        "time_synchronized": is_time_synchronized,
        "uid_0": lambda: sorted(account.pw_name for account in pwd.getpwall() if account.pw_uid == 0),
        "updates": lambda: updates_cache["updates"],
    }
    found = {}
    for name, find in facts.items():
        try:
            found[name] = find()
        except (OSError, ValueError, IndexError, AttributeError) as error:
            log("cannot find out %s: %s" % (name, error))
            found[name] = None
    return found


INVENTORY = {
    "os": find_os,
    "cpu": find_cpu,
    "memory": find_memory,
    "disks": find_disks,
    "interfaces": find_interfaces,
    "listeners": find_listeners,
    "packages_sha256": hash_packages,
    "services": find_services,
    "posture": find_posture,
}


def take_inventory(mode):
    """Returns all sections. A section that can't be found out is None, and the others are there."""
    found = {"agent": {"version": VERSION, "sha256": hash_own_file(), "mode": mode, "uid": os.geteuid()}}
    for name, find in INVENTORY.items():
        try:
            found[name] = find()
            if len(canonical(found[name])) > MAX_SECTION_BYTES:
                raise ValueError("it is too long for a heartbeat")
        except (OSError, ValueError, IndexError, KeyError) as error:
            log("cannot find out %s: %s" % (name, error))
            found[name] = None
    return found


def hash_own_file():
    with open(os.path.abspath(__file__), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


# ---------------------------------------------------------------------------------------------------------------------
# The talker: signed requests to the platform (RFC 9421). It believes nothing and decides nothing
# ---------------------------------------------------------------------------------------------------------------------

MAX_ANSWER_BYTES = 8 * 1024 * 1024
LONG_POLL_SECONDS = 25
MAX_BACKOFF_SECONDS = 300
MAX_ACKS = 50
NOT_TAKEN = (400, 413, 422)  # these bytes are not taken, however often they come
MAX_NOT_TAKEN = 3
REFRESH_SECONDS = 3600
COMPONENTS = '("@method" "@path" "@query" "content-digest")'


def printable(text):
    """Leaves nothing in a text that could write over what a terminal shows."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(text))


def log(text):
    print("sealoop-agent: " + printable(text).replace("\n", " "), file=sys.stderr, flush=True)


def say(text):
    print(printable(text), flush=True)


class Answered(Exception):
    """The platform refused a request."""

    def __init__(self, status, body, retry_after):
        super().__init__("the platform answers with status %d: %s" % (status, str(body)[:300]))
        self.status, self.body, self.retry_after = status, body if isinstance(body, dict) else {}, retry_after


def signed_headers(key, device_id, method, path, body):
    """Returns the headers that sign a request. @param path: with its query, if it has one"""
    digest = "sha-256=:%s:" % base64.b64encode(sha256(body)).decode()
    parameters = '%s;nonce="%s";keyid="%s";alg="ed25519";tag="sealoop-device"' % (
        COMPONENTS, os.urandom(16).hex(), device_id)
    plain, _, search = path.partition("?")
    base = "\n".join((
        '"@method": ' + method, '"@path": ' + plain, '"@query": ?' + search, '"content-digest": ' + digest,
        '"@signature-params": ' + parameters))
    return {
        "content-type": "application/json",
        "content-digest": digest,
        "signature-input": "sealoop=" + parameters,
        "signature": "sealoop=:%s:" % base64.b64encode(key.sign(base.encode())).decode(),
    }


class Gateway:
    """One connection to the platform, opened anew where it was lost. @param proxy: that it goes through, or None"""

    def __init__(self, url, proxy=None):
        self.proxy = proxy and self.parse_proxy(proxy)
        parts = urllib.parse.urlsplit(url)
        self.is_local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.scheme == "http" and not self.is_local:
            raise AgentError("%s is no address with https://; http:// is only for this machine" % url)
        self.parts, self.prefix, self.connection = parts, parts.path.rstrip("/"), None

    @staticmethod
    def parse_proxy(text):
        """Returns host, port and headers of a proxy."""
        try:
            parts = urllib.parse.urlsplit(text)
            if parts.scheme != "http" or not parts.hostname or not parts.port or parts.path.strip("/") or parts.query:
                raise ValueError
        except ValueError:
            raise AgentError("a proxy is http://[USER:PASSWORD@]HOST:PORT")
        user, password = (urllib.parse.unquote(item or "") for item in (parts.username, parts.password))
        basic = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        return parts.hostname, parts.port, {"proxy-authorization": "Basic " + basic} if user else {}

    def path(self, path):
        return self.prefix + path

    def send(self, method, path, body, headers, timeout):
        """Sends one request. Raises Answered, OSError, HTTPException, or ValueError where the answer is no JSON."""
        try:
            try:
                reused = self.connection is not None
                answer, data = self.exchange(method, path, body, headers, timeout)
            except (http.client.RemoteDisconnected, ConnectionError):
                if not reused:
                    raise
                self.close()  # it was closed while nothing was said; repeating is safe
                answer, data = self.exchange(method, path, body, headers, timeout)
            if len(data) > MAX_ANSWER_BYTES:
                raise ValueError("the answer is too long")
        except BaseException:
            self.close()
            raise
        try:
            value = parse(data.decode())
        except ValueError:
            value = None
        if answer.status != 200 or not isinstance(value, dict):
            raise Answered(answer.status, value, answer.getheader("retry-after"))
        return value

    def exchange(self, method, path, body, headers, timeout):
        if self.connection is None:
            self.connection = self.connect(timeout)
        if self.connection.sock:
            self.connection.sock.settimeout(timeout)
        self.connection.request(method, path, body, dict(headers, **{"user-agent": "sealoop-agent/" + VERSION}))
        answer = self.connection.getresponse()
        return answer, answer.read(MAX_ANSWER_BYTES + 1)

    def connect(self, timeout):
        host, port = self.parts.hostname, self.parts.port
        if self.parts.scheme == "http":  # on this machine
            return http.client.HTTPConnection(host, port, timeout=timeout)
        context = ssl.create_default_context()
        if not self.proxy:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        proxy_host, proxy_port, headers = self.proxy
        connection = http.client.HTTPSConnection(proxy_host, proxy_port, timeout=timeout, context=context)
        connection.set_tunnel(host, port or 443, headers)
        return connection

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


class Backoff:
    """Waits after failures: a random time up to a limit that doubles, so that devices do not come back all at once."""

    def __init__(self):
        self.failures = 0

    def reset(self):
        self.failures = 0

    def next(self, error):
        self.failures = min(self.failures + 1, 16)
        wait = random.uniform(0.2, min(MAX_BACKOFF_SECONDS, 2 ** self.failures))
        asked = getattr(error, "retry_after", None)
        if asked and re.fullmatch("[0-9]{1,4}", asked):
            wait = max(wait, min(int(asked), MAX_BACKOFF_SECONDS) * random.uniform(1, 1.2))
        elif isinstance(error, Answered) and error.status in (401, 403):
            wait = random.uniform(MAX_BACKOFF_SECONDS / 2, MAX_BACKOFF_SECONDS)  # a person has to decide
        return wait


def read_counter(path):
    """Returns the newest counter that was used. What can't be read is no zero, which would look like a clone."""
    try:
        with open(path) as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


class Talker:
    """Carries messages between the platform and the runner. Two requests at a time: a heartbeat and a statement."""

    def __init__(self, state, source, sink):
        self.folder = os.path.join(state, "talker")
        self.server = read_json(os.path.join(self.folder, "server.json"))
        if self.server is None:
            raise AgentError("this is no device yet; run enroll first")
        self.key = read_key(os.path.join(self.folder, "device.key"))
        self.source, self.sink, self.sink_lock = source, sink, threading.Lock()
        self.state, self.has_state, self.replies = None, threading.Event(), threading.Semaphore(0)
        self.result = None  # of the newest command
        self.statements, self.delivering, self.acks = queue.Queue(), set(), collections.deque()
        self.max_acks = MAX_ACKS
        self.has_acks = threading.Event()
        self.known_inventory = {}  # hash of each section that the platform has
        self.challenge = None  # of the platform, where it took a heartbeat for a late one

    def run(self):
        """Talks until the runner is gone."""
        threading.Thread(target=self.keep_alive(self.beat_for_ever), daemon=True).start()
        threading.Thread(target=self.keep_alive(self.deliver_for_ever), daemon=True).start()
        threading.Thread(target=self.keep_alive(self.refresh_for_ever), daemon=True).start()
        self.tell({"type": "hello"})
        lines = Lines(self.source)
        while True:
            received = lines.read(60)
            if received is None:
                return
            for text in received:
                self.hear(parse(text))

    def open_gateway(self):
        return Gateway(self.server["url"], self.server.get("proxy"))

    @staticmethod
    def keep_alive(work):
        def guarded():
            try:
                work()
            except BaseException as error:
                log("the talker ends: %r" % error)
                os._exit(1)  # whoever started it starts it again
        return guarded

    def tell(self, message):
        with self.sink_lock:
            send_line(self.sink, message)

    def hear(self, message):
        kind, acks = message["type"], len(self.acks)
        if kind == "state":
            self.state = message
            self.has_state.set()
            if message["replies"]:
                self.replies.release()
        elif kind == "result":
            self.result = message["result"]
            if message.get("command_id"):  # the platform could not say which command is meant
                self.acks.append({name: message[name] for name in ("command_id", "result", "code") if message.get(name)})
            if message["result"] == "refused":
                log("refused %s: %s" % (message.get("command_id"), message.get("reason")))
        elif kind == "output":
            self.acks.append({
                "command_id": message["command_id"], "result": "output", "salt": message["salt"],
                "output": message["output"]})
        elif kind == "statement":
            if message["body"]["sequence"] not in self.delivering:
                self.delivering.add(message["body"]["sequence"])
                self.statements.put(message["body"])
        elif kind == "approvers":
            result = "taken" if message["taken"] else "refused"
            self.acks.append({"approvers_version": message["version"], "result": result})
        else:
            log("the runner says: %s" % json.dumps(message)[:500])
        if len(self.acks) > acks:
            self.has_acks.set()

    @staticmethod
    def refresh_for_ever():
        while True:
            time.sleep(random.uniform(30, 120))
            refresh_updates()
            time.sleep(REFRESH_SECONDS)

    # Heartbeats

    def beat_for_ever(self):
        gateway, backoff, pending = self.open_gateway(), Backoff(), None
        path = gateway.path("/v1/shield/devices/heartbeat")
        self.has_state.wait()
        while True:
            if pending is None:
                pending = self.next_heartbeat(path)
            body, headers, sent = pending
            begun = boot_clock()
            try:
                answer = gateway.send("POST", path, body, headers, LONG_POLL_SECONDS + 20)
            except (Answered, OSError, http.client.HTTPException, ValueError) as error:
                log("heartbeat: %s" % error)
                if isinstance(error, Answered) and 400 <= error.status < 500 and error.status != 429:
                    pending = None  # it was answered: the next one has a new counter
                    challenge = error.body.get("challenge")
                    self.challenge = challenge if is_hex(challenge, 64) else self.challenge
                    self.keep_acks(sent["acks"], error.status)
                    self.known_inventory = {}
                time.sleep(backoff.next(error))
                continue  # without an answer, the very same bytes again
            backoff.reset()
            pending, waited = None, boot_clock() - begun
            self.take_answer(answer, sent)
            if self.result == "busy":
                time.sleep(random.uniform(0.5, 1.5))  # until one of the commands has ended
            elif not answer.get("commands"):
                seconds = self.interval(answer)
                if waited < LONG_POLL_SECONDS / 2 or seconds < LONG_POLL_SECONDS:
                    self.has_acks.wait(seconds * random.uniform(0.8, 1.2))

    def keep_acks(self, acks, status):
        """Keeps acknowledgements for the next heartbeat, fewer where these were not taken; gives up one alone."""
        if status in NOT_TAKEN:
            self.max_acks = max(1, len(acks) // 2)
            if len(acks) == 1:
                return log("the platform does not take that %s" % json.dumps(dict(acks[0], output=None)))
        self.acks.extendleft(reversed(acks))

    @staticmethod
    def interval(answer):
        seconds = answer.get("interval_seconds")
        return min(max(seconds, 0), 3600) if isinstance(seconds, (int, float)) else 60

    def next_heartbeat(self, path):
        """Returns the next heartbeat, signed. Its counter is on the disk before it is used."""
        inventory = take_inventory(self.server["mode"])
        hashes = {name: sha256(canonical(value)).hex() for name, value in inventory.items()}
        acks, size = [], 0
        self.has_acks.clear()
        while self.acks and len(acks) < self.max_acks and size < 400000:
            acks.append(self.acks.popleft())
            size += len(acks[-1].get("output", ""))
        state, file = self.state, os.path.join(self.folder, "counter")
        counter = read_counter(file) + 1
        write_durably(file, b"%d\n" % counter)
        message = {
            "counter": counter,
            "log_size": state["log_size"],
            "checkpoint": state["checkpoint"],
            "cosignature": state["cosignature"],
            "journal": state["journal"],
            "approvers_version": state["approvers_version"],
            "inventory_sha256": sha256(canonical(inventory)).hex(),
            "wait_seconds": LONG_POLL_SECONDS,
        }
        delta = {name: inventory[name] for name in inventory if self.known_inventory.get(name) != hashes[name]}
        if delta:
            message["delta"] = delta
        if state["firewall"]:
            message["firewall"] = state["firewall"]
        if acks:
            message["acks"] = acks
        if self.challenge:
            message["challenge"] = self.challenge
        body = canonical(message)
        sent = {
            "acks": acks, "hashes": hashes, "inventory_sha256": message["inventory_sha256"],
            "log_size": state["log_size"]}
        return body, signed_headers(self.key, self.server["device_id"], "POST", path, body), sent

    def take_answer(self, answer, sent):
        # Where the platform has not got what the sections add up to, all of them are sent again.
        has_all = answer.get("inventory_sha256", sent["inventory_sha256"]) == sent["inventory_sha256"]
        self.known_inventory = sent["hashes"] if has_all else {}
        self.max_acks, self.challenge = MAX_ACKS, None
        for ack in sent["acks"]:
            if ack["result"] == "output":
                self.tell({"type": "delivered", "command_id": ack["command_id"]})
        newest, commands = answer.get("log"), answer.get("commands") or []
        messages = [{"type": "command", "bundle": bundle} for bundle in commands]
        self.result = None
        for message in messages or ([{"type": "log"}] if newest else []):
            self.tell(dict(message, log=newest, **{"from": sent["log_size"]}))
            self.replies.acquire(timeout=60)  # the next heartbeat says what the runner makes of it
            if self.result in ("busy", "stale"):
                break  # those behind have higher numbers, and must not overtake it
        if answer.get("approvers"):
            self.tell({"type": "approvers", "update": answer["approvers"]})
        if answer.get("update"):
            log("there is another version of the agent: %s" % json.dumps(answer["update"])[:300])

    # Statements

    def deliver_for_ever(self):
        gateway = self.open_gateway()
        while True:
            body = self.statements.get()
            message = self.deliver(gateway, body)
            self.delivering.discard(body["sequence"])
            self.tell(message)

    def deliver(self, gateway, body):
        """Has a statement sealed, however long that takes. Returns what to tell the runner."""
        path = gateway.path("/v1/shield/devices/%s/seal" % self.server["device_id"])
        data, backoff, refusals = canonical(body), Backoff(), 0
        while True:
            headers = signed_headers(self.key, self.server["device_id"], "POST", path, data)
            try:
                answer = gateway.send("POST", path, data, headers, 60)
                log("%s %s: receipt %s" % (body.get("command_id", "data"), body["status"], answer.get("receipt_id")))
                return {
                    "type": "sealed", "sequence": body["sequence"], "record": answer["record"],
                    "salt": answer["salt"], "succession": answer.get("succession", [])}
            except (Answered, OSError, http.client.HTTPException, ValueError, KeyError) as error:
                log("statement %d: %s" % (body["sequence"], error))
                code = error.body.get("code") if isinstance(error, Answered) and error.status == 409 else None
                if code == "journal_rolled_back":
                    return {"type": "conflict", "sequence": body["sequence"]}
                if isinstance(error, Answered) and error.status in NOT_TAKEN:
                    refusals += 1
                    if refusals == MAX_NOT_TAKEN:
                        return {"type": "not_taken", "sequence": body["sequence"]}
                time.sleep(backoff.next(error))


# ---------------------------------------------------------------------------------------------------------------------
# Commands of the program
# ---------------------------------------------------------------------------------------------------------------------

TALKER_USER = "sealoop"
SYSTEM_STATE = "/var/lib/sealoop-agent"
USER_STATE = "~/.local/share/sealoop-agent"


def fingerprint(key_hex):
    return sha256(bytes.fromhex(key_hex)).hex()


def describe_trust(trust):
    """Returns what is pinned, a line each, for people to compare with another source."""
    rows = [("ledger key", "from %d" % key.start, fingerprint(key.public)) for key in trust.keys]
    rows += [("log key", trust.log_key.name, fingerprint(trust.log_key.public_key.hex()))]
    rows += [("witness", key.name, fingerprint(key.public_key.hex())) for key in trust.witnesses]
    rows += [("approver", "", fingerprint(key)) for key in trust.approvers]
    lines = ["%-11s %-28s SHA-256 %s" % row for row in rows]
    lines.append("%-11s %d of %d" % ("quorum", trust.quorum, len(trust.witnesses)))
    lines.append("%-11s %s" % ("approvals", "signatures required: %d" % trust.required
                               if trust.required else "no signatures required"))
    return "\n".join("  " + line for line in lines)


def enroll(options):
    """Makes keys, proves that it has them, and pins what the install script named."""
    gateway = Gateway(options.server, options.proxy)
    pins = read_json(options.pins)
    try:
        trust = Trust(pins or {})
    except ValueError as error:
        raise AgentError("%s can't be used: %s" % (options.pins, error))
    with open(options.code_file, encoding="utf-8") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise AgentError("%s can be read by others; set its mode to 600" % options.code_file)
        code = file.read().strip()
    if not options.user:
        find_account(options.talker_user)
    check_owned(options.state)
    for name in ("runner", os.path.join("runner", "commands")):
        check_owned(os.path.join(options.state, name))
    make_folder(options.state)
    talker, runner = (make_folder(os.path.join(options.state, name)) for name in ("talker", "runner"))
    if lock_file(os.path.join(runner, "lock")) is None:
        raise AgentError("another process enrols or runs %s" % options.state)
    if os.path.exists(os.path.join(runner, "identity.json")):
        raise AgentError("this is a device already (%s); uninstall it first" % options.state)
    if known_command_ids(runner):
        raise AgentError("%s has the journal of a device; uninstall it first, as that makes new keys" % options.state)
    device, own = make_key(os.path.join(talker, "device.key")), make_key(os.path.join(runner, "runner.key"))
    device_id = "DEV-" + sha256(device.public).hex()[:12]
    proven = {"code": code, "public_key": device.hex, "runner_key": own.hex}
    replaces = {"replaces": options.replaces} if options.replaces else {}
    answer = send_enrolment(gateway, dict(
        proven, name=options.name, platform="macos" if sys.platform == "darwin" else "linux", **replaces,
        proof={"device": device.sign(canonical(proven)).hex(), "runner": own.sign(canonical(proven)).hex()}))
    if answer.get("device_id") != device_id:
        raise AgentError("the platform names another device than %s" % device_id)
    if answer.get("trust") != pins:
        raise AgentError(
            "the platform names other keys than %s pins; compare both with another source" % options.pins)
    try:
        checkpoint = trust.check_checkpoint(answer.get("checkpoint"))
    except Refusal as refusal:
        raise AgentError("the platform's checkpoint can't be pinned: %s" % refusal)
    mode = "user" if options.user else "system"
    write_json(os.path.join(runner, "trust.json"), pins)
    write_json(os.path.join(runner, "accepted.json"), {
        "checkpoint": checkpoint.note, "keys": pins["ledger_keys"], "time": None})
    for name in ("journal.ndjson", "head.json"):  # of an enrolment that was not finished
        if os.path.exists(os.path.join(runner, name)):
            os.unlink(os.path.join(runner, name))
    Journal(runner).append("enrolled", {"device_id": device_id})
    write_json(os.path.join(talker, "server.json"), {
        "url": options.server, "proxy": options.proxy, "device_id": device_id, "mode": mode})
    write_json(os.path.join(runner, "identity.json"), {
        "device_id": device_id, "org_id": answer["org_id"], "mode": mode, "server": options.server,
        "proxy": options.proxy, "talker_user": options.talker_user})
    if mode == "system":
        hand_over(talker, options.talker_user)
        os.chmod(options.state, 0o755)
    say("This machine is the device %s of %s. Receipt: %s" % (device_id, answer["org_id"], answer.get("receipt_id")))
    if options.replaces:
        say("It replaces %s as soon as a person approves." % options.replaces)
    say("Pinned from now on; compare it with another source:\n" + describe_trust(trust))
    if mode == "user":
        say("Talking and running are one user here: nothing protects the results from the talking half.")


def send_enrolment(gateway, body):
    data = canonical(body)
    for attempt in range(5):
        try:
            return gateway.send(
                "POST", gateway.path("/v1/devices/enroll"), data, {"content-type": "application/json"}, 60)
        except Answered as error:
            if error.status not in (429, 502, 503, 504) or attempt == 4:
                raise AgentError("Cannot enrol: %s" % error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if attempt == 4:
                raise AgentError("Cannot enrol at %s: %s" % (gateway.parts.geturl(), error))
        time.sleep(random.uniform(0.5, 2 ** attempt))


def find_account(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise AgentError("there is no user %s; make it with: useradd --system %s" % (name, name))


def hand_over(folder, name):
    """Gives the talker's files to its user."""
    account = find_account(name)
    for path in [folder] + [os.path.join(folder, name) for name in os.listdir(folder)]:
        os.lchown(path, account.pw_uid, account.pw_gid)


def check_folder(options):
    """Prints a folder without links, where the agent may be installed there."""
    check_owned(options.folder)
    print(os.path.realpath(options.folder))


def run(options):
    """Runs both halves: this process is the runner, and the talker is its child, without rights where it can be."""
    identity = read_json(os.path.join(options.state, "runner", "identity.json"))
    if identity is None:
        raise AgentError("this is no device yet; run enroll first")
    if identity["mode"] == "system" and os.geteuid() != 0:
        raise AgentError("the device was enrolled for the whole machine; run it as root")
    check_owned(os.path.join(options.state, "runner"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    account = find_account(identity["talker_user"]) if identity["mode"] == "system" else None
    log("%s talks to %s" % (identity["device_id"], identity["server"]))
    backoff, mark = Backoff(), mark_of_program()
    while True:
        started = boot_clock()
        talker = subprocess.Popen(
            [sys.executable, "-I", os.path.abspath(__file__), "talk", "--state", options.state],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=True, cwd="/",
            env={"PATH": PATH, "LANG": "C.UTF-8"},
            preexec_fn=lambda: drop_rights(account))
        try:
            serve_runner(options.state, talker.stdout.fileno(), talker.stdin.fileno())
        except OSError as error:
            log("the runner ends, and begins anew from its files: %s" % error)  # the disk may be full
        finally:
            talker.kill()
            talker.wait()
        if mark_of_program() != mark:
            os.execv(sys.executable, [sys.executable, "-I", os.path.abspath(__file__)] + sys.argv[1:])
        if boot_clock() - started > 60:
            backoff.reset()
        time.sleep(backoff.next(None))


def drop_rights(account):
    """Makes a child process one that can gain no rights."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    if account:
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def talk(options):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Talker(options.state, 0, 1).run()
    except BrokenPipeError:
        pass  # the runner is gone


def run_runner(options):
    """Runs the runner alone, over standard input and output."""
    serve_runner(options.state, 0, 1)


def status(options):
    runner = Runner(options.state, lambda message: None, only_reads=True)
    say("device      %(device_id)s of %(org_id)s (%(mode)s), %(server)s" % runner.identity)
    say("runner key  %s" % runner.key.hex)
    say("accepted    checkpoint of %d receipts, root %s" % (runner.accepted.size, runner.accepted.root.hex()))
    say("journal     %d lines, head %s" % (runner.journal.seq, runner.journal.head[:16]))
    say("waiting     %d statements to be sealed" % len(runner.waiting))
    if runner.blocked:
        say("BLOCKED     %s; a person must decide, see release" % runner.blocked["reason"])
    say(describe_trust(runner.trust))
    for command_id, one in runner.commands.items():
        say("%s  %-9s %s" % (command_id, one.get("status", one["phase"]), json.dumps(one["command"]["argv"])))


def verify_bundle(options):
    """Checks again, offline, what was approved and what ran. Ends with 1 where something does not hold."""
    runner = Runner(options.state, lambda message: None, only_reads=True)
    is_id = COMMAND_ID.fullmatch(options.bundle)
    stored = read_json(runner.command_path(options.bundle, "bundle.json") if is_id else options.bundle)
    if stored is None:
        raise AgentError("%s was not accepted on this device" % options.bundle)
    try:
        log_part, bundle, faults = stored["log"], stored["bundle"], []
        check_log_shape(log_part)
        check_shape(bundle)
    except (KeyError, TypeError, Refusal) as error:
        raise AgentError("%s is no bundle: %s" % (options.bundle, error))
    command = bundle["command"]
    say("command    %s for %s, number %s" % (command["command_id"], command["device_id"], command["sequence"]))
    say("runs       %s as %s" % (json.dumps(command["argv"]), command["user"]))
    script = command["script"]
    say("script     %s" % (json.dumps(script, sort_keys=True) if script else "none: free arguments"))
    say("limits     %s s, %s bytes of output, expires %s" % (
        command["timeout_seconds"], command["output_bytes"], command["expires_at"]))
    try:
        checkpoint = runner.trust.check_checkpoint(log_part["checkpoint"])
        keys = [parse_ledger_key(key) for key in stored["keys"]] if "keys" in stored else runner.trust.keys
        entries, keys = check_records(bundle["records"], keys)
        check_inclusion(bundle["records"], entries, bundle["proofs"], checkpoint)
        check_commitment(entries[0], bundle["salt"], command)
        check_issued(entries[0], command)
        say("issued     receipt %s at position %d, in the log of %d receipts" % (
            entries[0]["id"], entries[0]["chain_position"], checkpoint.size))
        signers = valid_approvers(bundle, runner.trust)
        approval = command["approval"]
        say("approved   %s" % (approval["approval_id"] if approval else "no approval was asked for"))
        for key in sorted(signers):
            say("signed by  approver %s" % fingerprint(key))
        label_fault = find_label_fault(bundle, keys, checkpoint)
        say("released   %s" % (label_fault or "receipt %s" % parse(bundle["release"]["record"])["id"]))
        check_approvals(bundle, runner.trust, label_fault)
        if command["device_id"] != runner.identity["device_id"]:
            raise Refusal("other_device", "the command is for another device")
        show_receipts(runner, command["command_id"], runner.keys, faults)
    except Refusal as refusal:
        faults.append("%s: %s" % (refusal.code, refusal))
    for fault in faults:
        say("DOES NOT HOLD  " + fault)
    say("Nothing was found wrong: what ran is what was issued." if not faults else "Do not believe this bundle.")
    return 1 if faults else 0


def show_receipts(runner, command_id, keys, faults):
    for item in read_json(runner.command_path(command_id, "receipts.json")) or []:
        body, entry = item["body"], None
        try:
            entry = verify_record(item["record"], keys)
            unsigned = {name: value for name, value in body.items() if name != "signature"}
            if committed(entry, "statement") != commitment_of(item["salt"], body):
                raise ValueError("it commits to another statement")
            if not verify_ed25519(runner.key.public, canonical(unsigned), unhex(body["signature"], 128)):
                raise ValueError("the runner has not signed its statement")
        except (KeyError, TypeError, ValueError) as error:
            faults.append("the receipt of statement %s: %s" % (body.get("sequence"), error))
            continue
        what = "egress" if body["action"] == "data_egress" else body["phase"]
        told = ", ".join("%s %s" % (name, body[name]) for name in BODY_FIELDS if name in body)
        say("%-10s receipt %s at position %d: %s%s" % (
            what, entry["id"], entry["chain_position"], body["status"], ", " + told if told else ""))
    status = read_json(runner.command_path(command_id, "status.json"))
    if status:
        with open(runner.command_path(command_id, "output"), "rb") as file:
            if sha256(unhex(status["salt"], 64), file.read()).hex() != status["output_sha256"]:
                faults.append("the output is not the one whose hash was sealed")


def known_command_ids(folder):
    """Returns the ids of all commands that this device has begun, by its files and the legible lines of its journals."""
    commands = os.path.join(folder, "commands")
    known = {name for name in os.listdir(commands) if COMMAND_ID.fullmatch(name)} if os.path.isdir(commands) else set()
    for path in glob.glob(os.path.join(glob.escape(folder), "journal.ndjson*")):
        with open(path, "rb") as file:
            for text in file:
                try:
                    line = parse(text.decode())
                    known.update([line["command_id"]] if line["kind"] == "begun" else line.get("command_ids", []))
                except (AttributeError, KeyError, TypeError, ValueError):
                    continue  # it was damaged; the command's folder is there all the same
    return known


def release(options):
    """Begins a new journal above the numbers that the platform knows, after a person has decided."""
    folder = os.path.join(options.state, "runner")
    lock = lock_file(os.path.join(folder, "lock"))
    if lock is None:
        raise AgentError("the agent is running; stop it first")
    known = known_command_ids(folder)
    old = os.path.join(folder, "journal.ndjson")
    if os.path.exists(old) and os.path.getsize(old):
        os.rename(old, "%s.before-%d-%s" % (old, options.seq, os.urandom(4).hex()))
    sync_folder(folder)
    journal = Journal(folder)
    fields = {"command_sequence": options.command_sequence, "command_ids": sorted(known)}
    journal.append("released", fields, seq=options.seq + 1)
    write_json(os.path.join(folder, "acknowledged.json"), {"seq": journal.seq, "aside": []})
    if os.path.exists(os.path.join(folder, "blocked.json")):
        os.unlink(os.path.join(folder, "blocked.json"))
    say("The journal goes on with line %d, and commands above number %d are taken." % (
        journal.seq + 1, options.command_sequence))


def upgrade(options):
    """Replaces this program. The agent that runs sees that, and goes on as the new one."""
    identity = read_json(os.path.join(options.state, "runner", "identity.json"))
    if identity is None:
        raise AgentError("this is no device; run the install script")
    gateway, path = Gateway(identity["server"], identity.get("proxy")), os.path.abspath(__file__)
    try:
        answer, data = gateway.exchange("GET", gateway.path("/v1/devices/agent/download"), None, {}, 60)
    except http.client.HTTPException as error:
        raise AgentError("Cannot download from %s: %s" % (identity["server"], error))
    found = hashlib.sha256(data).hexdigest()
    if answer.status != 200 or found != options.sha256:
        raise AgentError("%s serves a program of SHA-256 %s, not %s" % (identity["server"], found, options.sha256))
    mode = stat.S_IMODE(os.stat(path).st_mode)
    write_durably(path + ".next", data)
    os.chmod(path + ".next", mode)
    if subprocess.call([sys.executable, "-I", path + ".next", "--help"], stdout=subprocess.DEVNULL) != 0:
        raise AgentError("the new program does not start here; nothing was changed")
    os.rename(path + ".next", path)
    sync_folder(os.path.dirname(path))
    say("Replaced %s by the program of SHA-256 %s." % (path, found))


def uninstall(options):
    if not options.yes:
        raise AgentError("this removes the keys and the journal for good; say --yes")
    unit = "/etc/systemd/system/sealoop-agent.service"
    if not options.user and os.path.exists(unit):
        subprocess.call(["systemctl", "disable", "--now", "sealoop-agent.service"])
        os.unlink(unit)
        subprocess.call(["systemctl", "daemon-reload"])
    if os.path.isdir(os.path.join(options.state, "runner")):
        shutil.rmtree(options.state)
        say("Removed %s." % options.state)
    say("The platform still lists the device. Its receipts stay in the ledger. To remove the program: rm %s" %
          os.path.abspath(__file__))


def parse_arguments():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__.strip())
        sys.exit(0)
    parser = argparse.ArgumentParser(prog="sealoop_agent.py")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    for name, work in COMMANDS.items():
        one = commands.add_parser(name, allow_abbrev=False)
        one.set_defaults(work=work)
        one.add_argument("--state")
        one.add_argument("--user", action="store_true")
        if name == "enroll":
            one.add_argument("--server", required=True)
            one.add_argument("--code-file", required=True)
            one.add_argument("--pins", required=True)
            one.add_argument("--name", default=socket.gethostname())
            one.add_argument("--replaces")
            one.add_argument("--proxy")
            one.add_argument("--talker-user", default=TALKER_USER)
        elif name == "verify-bundle":
            one.add_argument("bundle")
        elif name == "check-folder":
            one.add_argument("folder")
        elif name == "release":
            one.add_argument("seq", type=int)
            one.add_argument("command_sequence", type=int)
        elif name == "firewall":
            one.add_argument("rules")
            one.add_argument("--within", type=int, default=30)
        elif name == "reach":
            one.add_argument("--targets", required=True)
        elif name == "scan":
            one.add_argument("--targets", required=True)
            one.add_argument("--ports", required=True)
        elif name == "upgrade":
            one.add_argument("--sha256", required=True)
        elif name == "uninstall":
            one.add_argument("--yes", action="store_true")
    options = parser.parse_args()
    options.user = options.user or os.geteuid() != 0
    options.state = os.path.abspath(os.path.expanduser(options.state or (USER_STATE if options.user else SYSTEM_STATE)))
    return options


COMMANDS = {
    "enroll": enroll, "run": run, "talk": talk, "runner": run_runner, "status": status, "verify-bundle": verify_bundle,
    "check-folder": check_folder, "release": release, "firewall": apply_firewall, "scan": scan,
    "reach": reach, "upgrade": upgrade, "uninstall": uninstall}


def main():
    os.umask(0o077)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever starts it may ignore it, and exit codes would be lost
    options = parse_arguments()
    return options.work(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AgentError, OSError) as error:
        log(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
