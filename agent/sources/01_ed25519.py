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


