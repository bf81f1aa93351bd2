"""Writes test/vectors/ed25519-edges.json: signatures about which implementations of Ed25519 differ.

The cases are those of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020), made anew by arithmetic of their own.
The ledger's verifiers take the equation without the cofactor, canonical encodings alone, and no key or R of small order.
"""
import hashlib
import json
import pathlib

P = 2 ** 255 - 19
L = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
IDENTITY = (0, 1)


def add(a, b):
    product = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, P)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P)
    return x % P, y % P


def multiply(n, point):
    result = IDENTITY
    while n:
        if n & 1:
            result = add(result, point)
        point, n = add(point, point), n >> 1
    return result


def negate(point):
    return -point[0] % P, point[1]


def point_of(y, sign):
    """None where no point has this y."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square:
        return None
    return (x if x & 1 == sign else -x % P), y


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def hash_of(encoded_r, encoded_a, message):
    return int.from_bytes(hashlib.sha512(encoded_r + encoded_a + message).digest(), "little") % L


BASE = point_of(4 * pow(5, -1, P) % P, 0)
# A point of order 8: what is left of any point when the prime order is taken out of it.
EIGHTH = next(t for t in (multiply(L, point_of(y, 0)) for y in range(2, 99) if point_of(y, 0)) if multiply(4, t) != IDENTITY)
SECRET, NONCE = 0x5EA100B, 0x1234567890ABCDEF
vectors = []


def case(name, key, message, r, s, valid):
    encoded_key = key if isinstance(key, bytes) else encode(key)
    encoded_r = r if isinstance(r, bytes) else encode(r)
    signature = encoded_r + s.to_bytes(32, "little")
    vectors.append({"name": name, "key": encoded_key.hex(), "message": message.hex(), "signature": signature.hex(), "valid": valid})


def find(key, r, wanted):
    """A message whose hash is wanted; None where there may be none."""
    messages = (f"edge {n}".encode() for n in range(64))
    return next((m for m in messages if wanted(hash_of(encode(r), encode(key), m))), None)


plain_key, plain_r = multiply(SECRET, BASE), multiply(NONCE, BASE)
mixed_key, mixed_r = add(plain_key, EIGHTH), add(plain_r, EIGHTH)
message = b"edge"
h = hash_of(encode(plain_r), encode(plain_key), message)
s = (NONCE + h * SECRET) % L
case("an ordinary signature", plain_key, message, plain_r, s, True)
case("an ordinary signature of other bytes", plain_key, b"other", plain_r, s, False)
case("S with the order added", plain_key, message, plain_r, s + L, False)
case("S with its highest bits set", plain_key, message, plain_r, s | 0xE0 << 248, False)

for n in range(8):
    small = multiply(n, EIGHTH)
    for order_r in range(8):
        r = multiply(order_r, EIGHTH)
        fits = find(small, r, lambda k: (order_r + k * n) % 8 == 0)
        if fits is not None:
            case(f"a key and an R of small order, {n} and {order_r} eighths, and S = 0", small, fits, r, 0, False)
    fits = find(small, plain_r, lambda k: k * n % 8 == 0)
    case(f"a key of small order, {n} eighths, and an ordinary R", small, fits, plain_r, NONCE, False)

for n in range(8):
    r = multiply(n, EIGHTH)
    k = hash_of(encode(r), encode(plain_key), message)
    case(f"an R of small order, {n} eighths, that only the cofactor accepts", plain_key, message, r, k * SECRET % L, False)

m = find(mixed_key, mixed_r, lambda k: (1 + k) % 8 == 0)
k = hash_of(encode(mixed_r), encode(mixed_key), m)
case("a key and an R with parts of small order that cancel each other", mixed_key, m, mixed_r, (NONCE + k * SECRET) % L, True)
m = find(mixed_key, plain_r, lambda k: k % 8 == 0)
k = hash_of(encode(plain_r), encode(mixed_key), m)
case("a key with a part of small order that the hash takes away", mixed_key, m, plain_r, (NONCE + k * SECRET) % L, True)
m = find(mixed_key, plain_r, lambda k: k % 8 != 0)
k = hash_of(encode(plain_r), encode(mixed_key), m)
case("a key with a part of small order, which only the cofactor accepts", mixed_key, m, plain_r, (NONCE + k * SECRET) % L, False)
k = hash_of(encode(mixed_r), encode(plain_key), message)
case("an R with a part of small order, which only the cofactor accepts", plain_key, message, mixed_r, (NONCE + k * SECRET) % L, False)

for y in range(19):
    for sign in (0, 1):
        encoded = ((P + y) | sign << 255).to_bytes(32, "little")
        case(f"a key whose y is the prime and {y}, sign {sign}", encoded, message, plain_r, s, False)
        k = hash_of(encoded, encode(plain_key), message)
        case(f"an R whose y is the prime and {y}, sign {sign}", plain_key, message, encoded, k * SECRET % L, False)
        messages = (f"edge {n}".encode() for n in range(64))
        fits = next(m for m in messages if hash_of(encode(plain_r), encoded, m) % 4 == 0)
        if y < 2:  # of order 4 and 1
            case(f"a signature by the key whose y is the prime and {y}, sign {sign}", encoded, fits, plain_r, NONCE, False)
for y in (1, P - 1):
    encoded = (y | 1 << 255).to_bytes(32, "little")
    case(f"a key whose x is 0 with a sign, y {'1' if y == 1 else '-1'}", encoded, b"", plain_r, NONCE, False)
off = next(y for y in range(2, 99) if point_of(y, 0) is None)
case("a key that is not on the curve", off.to_bytes(32, "little"), message, plain_r, s, False)
case("an R that is not on the curve", plain_key, message, off.to_bytes(32, "little"), s, False)

lines = ",\n".join(" " + json.dumps(vector) for vector in vectors)
path = pathlib.Path(__file__).parents[2] / "vectors" / "ed25519-edges.json"
path.write_text(f"[\n{lines}\n]\n")
print(f"{len(vectors)} signatures, {sum(v['valid'] for v in vectors)} of them valid")
