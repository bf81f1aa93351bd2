import { createHash, createPublicKey } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { TrustedKey } from "../rules/mod.ts";

/** A text is not an Ed25519 public key. */
class BadPublicKey extends Error {
  override readonly name = "BadPublicKey";
}

/**
 * Reads a public key: 32 bytes as hex or base64, a key in PEM or base64 DER form, or the path of a file that holds one.
 *
 * @returns lowercase hex
 * @throws {BadPublicKey} it is none of these
 */
export function readPublicKey(text: string): string {
  const key = parseKeyText(text) ??
    (isFile(text) ? parseKeyText(readFileSync(text, "latin1")) : undefined);
  if (key) return key;
  throw new BadPublicKey(
    "Expected an Ed25519 public key: 32 bytes as hex or base64, PEM, or a file that holds one",
  );
}

/** Parses a key as a ledger publishes it, which names no file of the reader. @throws {BadPublicKey} */
function parsePublishedKey(text: string): string {
  const key = parseKeyText(text);
  if (key) return key;
  throw new BadPublicKey("Expected an Ed25519 public key: 32 bytes as hex or base64, or PEM");
}

function isFile(path: string): boolean {
  const stats = existsSync(path) ? statSync(path) : undefined;
  return stats !== undefined && stats.isFile() && stats.size < 10_000;
}

function parseKeyText(text: string): string | undefined {
  const plain = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(plain)) return plain.toLowerCase();
  if (/^[A-Za-z0-9+/]{43}=?$/.test(plain)) return Buffer.from(plain, "base64").toString("hex");
  const pem = plain.startsWith("-----BEGIN PUBLIC KEY-----")
    ? plain
    : /^[A-Za-z0-9+/]{59}=?$/.test(plain)
    ? `-----BEGIN PUBLIC KEY-----\n${plain}\n-----END PUBLIC KEY-----`
    : undefined;
  if (!pem) return undefined;
  try {
    const { kty, crv, x } = createPublicKey(pem).export({ format: "jwk" });
    return kty === "OKP" && crv === "Ed25519"
      ? Buffer.from(x!, "base64url").toString("hex")
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses the keys that a ledger publishes, in the answer of `/api/how-to-verify` or in an exported file: `keys`, or else
 * `public_key` alone. Returns none where there are none.
 *
 * @throws {BadPublicKey} one of them is not a key
 */
function parsePublishedKeys(fields: Readonly<Record<string, unknown>>): TrustedKey[] {
  const { how_to_verify, keys, public_key } = fields;
  if (Array.isArray(keys)) return keys.map(parseKey);
  if (typeof public_key === "string") {
    return [{ publicKey: parsePublishedKey(public_key), fromPosition: 0 }];
  }
  if (typeof how_to_verify === "object" && how_to_verify !== null) {
    return parsePublishedKeys(how_to_verify as Record<string, unknown>);
  }
  return [];
}

/**
 * Selects the keys to verify with: the published ones, of which those that the reader knows are pinned; where none are
 * published, those that the reader knows.
 *
 * @param fields published with the receipts
 * @param known lowercase hex, of the key or of its fingerprint, the SHA-256 of its 32 bytes
 * @throws {BadPublicKey} no published key is one that the reader knows
 */
export function selectTrustedKeys(
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
): TrustedKey[] {
  return pinKeys(parsePublishedKeys(fields), known);
}

/** Pins those of some keys that the reader knows, as {@linkcode selectTrustedKeys} does. */
export function pinKeys(published: readonly TrustedKey[], known: readonly string[]): TrustedKey[] {
  if (known.length === 0) return [...published];
  if (published.length === 0) {
    return known.map((publicKey) => ({ publicKey, fromPosition: 0, isPinned: true }));
  }
  const keys = published.map((key) => {
    const isKnown = known.includes(key.publicKey) ||
      known.includes(computeFingerprint(key.publicKey));
    return isKnown ? { ...key, isPinned: true } : key;
  });
  if (keys.some(({ isPinned }) => isPinned)) return keys;
  throw new BadPublicKey("The ledger names other keys than those that were given");
}

/** Computes the SHA-256 of a public key's 32 bytes. @param publicKey and result are lowercase hex */
export function computeFingerprint(publicKey: string): string {
  return createHash("sha256").update(Buffer.from(publicKey, "hex")).digest("hex");
}

function parseKey(entry: unknown): TrustedKey {
  const { public_key, from_position, recovery_key } = (entry ?? {}) as Record<string, unknown>;
  if (
    typeof public_key !== "string" || !Number.isSafeInteger(from_position) ||
    Number(from_position) < 0
  ) {
    throw new BadPublicKey("Expected of each key a public_key and a from_position");
  }
  const key = { publicKey: parsePublishedKey(public_key), fromPosition: Number(from_position) };
  if (typeof recovery_key !== "string") return key;
  return { ...key, recoveryKey: parsePublishedKey(recovery_key) };
}
