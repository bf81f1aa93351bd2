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


