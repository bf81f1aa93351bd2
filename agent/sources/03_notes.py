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


