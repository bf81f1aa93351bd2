import { canonicalize } from "./canonical.ts";
import { type Break, findKeyIndex, type Place, type Primitives, type TrustedKey } from "./types.ts";

/** Categories of the receipts that introduce keys. Nothing but the sequencer and the recovery command seals them. */
const SUCCESSION_CATEGORIES = ["ledger_genesis", "key_rotated", "ledger_adopted"] as const;

/** A category of a receipt that introduces keys. */
export type SuccessionCategory = (typeof SUCCESSION_CATEGORIES)[number];

/** Returns true for a category of receipts that introduce keys. */
export function isSuccession(category: string): category is SuccessionCategory {
  return (SUCCESSION_CATEGORIES as readonly string[]).includes(category);
}

/** A key that a valid receipt introduces. */
export interface IntroducedKey extends TrustedKey {
  /** Category of the receipt; `imported`: a `ledger_adopted` receipt names it as a key from before. */
  readonly by: SuccessionCategory | "imported";
}

/** A key as receipts and the ledger's answers name it. */
export interface NamedKey {
  readonly public_key: string;
  readonly from_position: number;
  readonly recovery_key?: string;
}

/** Names a key as receipts do. */
export function nameKey({ publicKey, fromPosition, recoveryKey }: TrustedKey): NamedKey {
  return {
    public_key: publicKey,
    from_position: fromPosition,
    ...(recoveryKey === undefined ? {} : { recovery_key: recoveryKey }),
  };
}

/** A change from one ledger key to the next. */
export interface Rotation {
  /** The first key of the chain that has a succession, which identifies the ledger. */
  readonly firstKey: string;
  readonly oldKey: string;
  readonly newKey: string;
  /** Position of the receipt; the new key signs from the next one on. */
  readonly position: number;
  readonly previousHash: string;
}

/** Returns the text that the new key signs, to prove that its holder takes over here and nowhere else. */
export function formatRotation(rotation: Rotation): string {
  const { firstKey, oldKey, newKey, position, previousHash } = rotation;
  return canonicalize({
    statement: "sealoop key_rotated",
    first_key: firstKey,
    from_position: position + 1,
    new_key: newKey,
    old_key: oldKey,
    position,
    prev_hash: previousHash,
  });
}

/** The parts of a receipt that introduces keys. */
export interface SuccessionRecord {
  readonly category: SuccessionCategory;
  /** The field `details`, parsed. */
  readonly details: unknown;
}

/** Keys that a receipt introduces, or why it can't. */
export type SuccessionResult =
  | { readonly introduced: readonly IntroducedKey[] }
  | { readonly fault: string };

/**
 * Verifies a receipt that introduces keys against the published ones. Its signature is verified elsewhere.
 *
 * @param keys in the order in which they came to be trusted
 */
export function verifySuccession(
  record: SuccessionRecord,
  place: Place,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): SuccessionResult {
  const details = isObject(record.details) ? record.details : {};
  switch (record.category) {
    case "ledger_genesis":
      return verifyGenesis(details, place, keys);
    case "ledger_adopted":
      return verifyAdoption(details, place, keys);
    case "key_rotated":
      return verifyRotation(details, place, keys, primitives);
  }
}

type Details = Readonly<Record<string, unknown>>;

function verifyGenesis(
  details: Details,
  { position }: Place,
  keys: readonly TrustedKey[],
): SuccessionResult {
  const key = keys[findKeyIndex(keys, position)];
  if (position !== 0) return { fault: "It begins a ledger, and is not the first entry" };
  return introduceOwn("ledger_genesis", details, position, key);
}

function verifyAdoption(
  details: Details,
  { position, previousHash }: Place,
  keys: readonly TrustedKey[],
): SuccessionResult {
  const index = findKeyIndex(keys, position);
  const before = keys.slice(0, Math.max(0, index));
  if (position === 0 || details.size !== position || details.head !== previousHash) {
    return { fault: "It adopts other receipts than those before it" };
  }
  if (canonicalOrEmpty(details.keys) !== canonicalize(before.map(nameKey))) {
    return { fault: "It adopts receipts with other keys than those published for them" };
  }
  const hasOwner = before.some(({ recoveryKey }) => recoveryKey !== undefined);
  if (hasOwner && !keys[index]?.isPinned) {
    return { fault: "It adopts receipts of a ledger whose key has not handed over to its own" };
  }
  const result = introduceOwn("ledger_adopted", details, position, keys[index]);
  if ("fault" in result) return result;
  const imported = before.map((key): IntroducedKey => ({ ...key, by: "imported" }));
  return { introduced: [...imported, ...result.introduced] };
}

/** Introduces the key that signs this receipt itself. */
function introduceOwn(
  by: SuccessionCategory,
  details: Details,
  position: number,
  key: TrustedKey | undefined,
): SuccessionResult {
  const isPublished = key !== undefined && key.fromPosition === position &&
    key.publicKey === details.ledger_key && key.recoveryKey !== undefined &&
    key.recoveryKey === details.recovery_key;
  if (!isPublished) {
    return { fault: "The keys that it introduces are not those published for this position" };
  }
  if (key.publicKey === key.recoveryKey) return { fault: "Its recovery key is the ledger key" };
  return { introduced: [{ ...key, by }] };
}

function verifyRotation(
  details: Details,
  { position, previousHash }: Place,
  keys: readonly TrustedKey[],
  { verifyEd25519, fromHex }: Primitives,
): SuccessionResult {
  const index = findKeyIndex(keys, position);
  const signer = keys[index];
  if (signer?.recoveryKey === undefined) {
    return { fault: "It changes the key of a ledger that has none of its own" };
  }
  const isRecovery = signer.fromPosition === position && index > 0 &&
    keys[index - 1]!.recoveryKey === signer.publicKey;
  const old = isRecovery ? keys[index - 1]! : signer;
  const { old_key, new_key, recovery_key, new_key_signature: proof } = details;
  const next = keys[index + 1];
  const isPublished = next !== undefined && next.fromPosition === position + 1 &&
    next.publicKey === new_key && next.recoveryKey === recovery_key;
  if (!isPublished || old_key !== old.publicKey) {
    return { fault: "The keys that it names are not those published from here on" };
  }
  const firstKey = keys.find(({ recoveryKey }) => recoveryKey !== undefined)!.publicKey;
  const newKey = next.publicKey;
  if (newKey === old.publicKey || newKey === old.recoveryKey || newKey === recovery_key) {
    return { fault: "Its new key is one that is in use already" };
  }
  if (!isRecovery && recovery_key !== old.recoveryKey) {
    return { fault: "It changes the recovery key, which only the recovery key itself may" };
  }
  const statement = formatRotation({
    firstKey,
    oldKey: old.publicKey,
    newKey,
    position,
    previousHash,
  });
  const isProven = typeof proof === "string" && /^[0-9a-f]{128}$/.test(proof) &&
    verifyEd25519(newKey, new TextEncoder().encode(statement), fromHex(proof));
  if (details.first_key !== firstKey || details.from_position !== position + 1 || !isProven) {
    return { fault: "Its new key has not signed that it takes over here" };
  }
  const introduced = isRecovery ? [signer, next] : [next];
  return { introduced: introduced.map((key) => ({ ...key, by: "key_rotated" })) };
}

/**
 * Finds published keys that no receipt introduces.
 *
 * A ledger from before keys had a succession has one key without; more of them are trusted where a `ledger_adopted`
 * receipt names them, or where the reader knows them.
 *
 * @param introduced by valid receipts
 */
export function findKeysWithoutSuccession(
  keys: readonly TrustedKey[],
  introduced: readonly TrustedKey[],
): Break[] {
  return keys
    .filter((key, n) => {
      if (key.recoveryKey === undefined && (n === 0 || key.isPinned)) return false;
      return !introduced.some((one) => isSameKey(one, key));
    })
    .map(({ fromPosition, publicKey }) => ({
      position: fromPosition,
      reason: `The key ${publicKey.slice(0, 16)}… is published from here on, ` +
        "and no receipt of the key before it or of the recovery key hands over to it",
    }));
}

/**
 * Returns the position from which the keys are not proven by what the reader knows, or undefined where they are.
 *
 * A ledger's first key is proven by knowing it alone. So is one that has adopted the receipts of another ledger: the key
 * before has not handed over to it.
 *
 * @param introduced by valid receipts
 * @param end position after the last receipt
 */
export function findUnproven(
  keys: readonly TrustedKey[],
  introduced: readonly IntroducedKey[],
  end: number,
): number | undefined {
  const adoptions = introduced
    .filter(({ by }) => by === "ledger_adopted")
    .map(({ fromPosition }) => fromPosition);
  if (!keys.some(({ isPinned }) => isPinned)) return smallest(adoptions);
  const known = keys.findLast((key, n) =>
    key.isPinned && key.fromPosition < (keys[n + 1]?.fromPosition ?? end)
  );
  if (!known) return end === 0 ? undefined : 0;
  return smallest(adoptions.filter((position) => position > known.fromPosition));
}

function smallest(positions: readonly number[]): number | undefined {
  return positions.length === 0 ? undefined : Math.min(...positions);
}

function isSameKey(a: TrustedKey, b: TrustedKey): boolean {
  return a.publicKey === b.publicKey && a.fromPosition === b.fromPosition &&
    a.recoveryKey === b.recoveryKey;
}

function isObject(value: unknown): value is Details {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the canonical form of a parsed value; empty where it has none. */
function canonicalOrEmpty(value: unknown): string {
  return value === undefined ? "" : canonicalize(value);
}
