import {
  BadNote,
  type Checkpoint,
  findSignature,
  formatVerifierKey,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
} from "../notes/mod.ts";
import {
  canonicalizeFields,
  type Era,
  nameKey,
  NotCanonical,
  type Primitives,
  type TrustedKey,
} from "../rules/mod.ts";

/** The facts about a ledger that a verifier has from elsewhere than from the ledger. */
export interface Trust {
  /** Keys that sign receipts, each from its first position; empty: those that the ledger names are believed. */
  readonly ledgerKeys: readonly TrustedKey[];
  /** Key of the Merkle log; undefined: the one that the ledger names is believed. */
  readonly logKey: NoteKey | undefined;
  readonly witnesses: readonly NoteKey[];
  /** Number of these witnesses that must have cosigned the checkpoint. */
  readonly witnessQuorum: number;
  /** Era below which a receipt does not count: 1 allows unsigned receipts. */
  readonly minEra: Era;
  /** The newest checkpoint that the verifier has seen. */
  readonly checkpoint: SeenCheckpoint | undefined;
}

/** A checkpoint that was seen before, signed by the pinned key of the log. */
interface SeenCheckpoint extends Checkpoint {
  readonly note: string;
}

/** A text is no trust file. */
export class BadTrust extends Error {
  override readonly name = "BadTrust";
}

/** Trusts whatever the ledger names. */
export const NOTHING_PINNED: Trust = {
  ledgerKeys: [],
  logKey: undefined,
  witnesses: [],
  witnessQuorum: 0,
  minEra: 1,
  checkpoint: undefined,
};

/** Era below which nothing counts where a trust file does not say it: receipts of era 1 are not signed. */
const DEFAULT_MIN_ERA: Era = 2;

/** Returns true where something is pinned. */
export function isPinned({ ledgerKeys, logKey }: Trust): boolean {
  return ledgerKeys.length > 0 || logKey !== undefined;
}

/** Reads one field of a trust file into part of the trust. */
type FieldReader = (value: unknown, primitives: Primitives) => Partial<Trust>;

const FIELDS: Readonly<Record<string, FieldReader>> = {
  ledger_keys: (value) => ({ ledgerKeys: readLedgerKeys(value) }),
  log_key: (value, primitives) => ({ logKey: readNoteKey("log_key", "log", value, primitives) }),
  witnesses: (value, primitives) => ({ witnesses: readWitnesses(value, primitives) }),
  witness_quorum: (value) => ({ witnessQuorum: readInteger("witness_quorum", value, 0) }),
  min_era: (value) => ({ minEra: readEra(value) }),
  checkpoint: () => ({}), // read last, as it must be signed by the log's key
};

/**
 * Reads a trust file.
 *
 * @param json text of `sealoop.trust.json`
 * @throws {BadTrust} it is none, says something twice, or pins nothing
 */
export function parseTrust(json: string, primitives: Primitives): Trust {
  const fields = readFields(json);
  let trust: Trust = { ...NOTHING_PINNED, minEra: DEFAULT_MIN_ERA };
  for (const [name, value] of fields) {
    const read = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (!read) {
      throw new BadTrust(`It has the field ${name}; known are ${Object.keys(FIELDS).join(", ")}`);
    }
    trust = { ...trust, ...read(value, primitives) };
  }
  if (!isPinned(trust)) throw new BadTrust("It pins nothing: give it ledger_keys or log_key");
  checkWitnesses(trust, fields.has("witness_quorum"));
  const note = fields.get("checkpoint");
  return note === undefined ? trust : withCheckpoint(trust, note, primitives);
}

/** Writes a trust file. Returns what {@linkcode parseTrust} reads. */
export function formatTrust(trust: Trust, primitives: Primitives): string {
  const { ledgerKeys, logKey, witnesses, witnessQuorum, minEra, checkpoint } = trust;
  const hasWitnesses = witnesses.length > 0;
  const fields = {
    ledger_keys: ledgerKeys.length === 0 ? undefined : ledgerKeys.map(nameKey),
    log_key: logKey && formatVerifierKey(logKey, primitives),
    witnesses: hasWitnesses
      ? witnesses.map((key) => formatVerifierKey(key, primitives))
      : undefined,
    witness_quorum: hasWitnesses ? witnessQuorum : undefined,
    min_era: minEra,
    checkpoint: checkpoint?.note,
  };
  return `${JSON.stringify(fields, undefined, 2)}\n`;
}

function readFields(json: string): Map<string, unknown> {
  try {
    const fields = canonicalizeFields(json);
    return new Map([...fields].map(([name, text]) => [name, JSON.parse(text)]));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new BadTrust(`It is no JSON object: ${error.message}`);
  }
}

function checkWitnesses({ logKey, witnesses, witnessQuorum }: Trust, saysQuorum: boolean): void {
  if (witnesses.length > 0 && !logKey) {
    throw new BadTrust("It has witnesses and no log_key: witnesses cosign the log's checkpoints");
  }
  if (witnesses.length > 0 && !saysQuorum) {
    throw new BadTrust("It has witnesses and no witness_quorum: say how many must have cosigned");
  }
  if (witnessQuorum > witnesses.length) {
    throw new BadTrust(`witness_quorum is ${witnessQuorum}, of ${witnesses.length} witnesses`);
  }
}

/**
 * Adds the newest checkpoint that was seen.
 *
 * @throws {BadTrust} it is none, or not signed by the pinned key of the log
 */
export function withCheckpoint(trust: Trust, note: unknown, primitives: Primitives): Trust {
  const { logKey } = trust;
  if (!logKey) throw new BadTrust("It has a checkpoint and no log_key, so nobody can check it");
  if (typeof note !== "string") throw new BadTrust("checkpoint is no text");
  try {
    const parsed = parseNote(note);
    const checkpoint = parseCheckpoint(parsed.text);
    if (
      checkpoint.origin !== logKey.name || findSignature(parsed, logKey, primitives) !== "valid"
    ) {
      throw new BadTrust(`The seen checkpoint is not signed by the key of ${logKey.name}`);
    }
    return { ...trust, checkpoint: { ...checkpoint, note } };
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    throw new BadTrust(`The seen checkpoint can't be read: ${error.message}`);
  }
}

function readLedgerKeys(value: unknown): TrustedKey[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new BadTrust("ledger_keys is no list of keys");
  }
  const keys = value.map((entry) => {
    const { public_key, from_position, recovery_key, ...more } = Object(entry);
    const [unknown] = Object.keys(more);
    if (unknown !== undefined) throw new BadTrust(`A ledger key has the field ${unknown}`);
    const key = {
      publicKey: readHexKey("public_key", public_key),
      fromPosition: readInteger("from_position of a ledger key", from_position, 0),
    };
    if (recovery_key === undefined) return key;
    return { ...key, recoveryKey: readHexKey("recovery_key", recovery_key) };
  });
  if (keys.some(({ fromPosition }, n) => n > 0 && fromPosition <= keys[n - 1]!.fromPosition)) {
    throw new BadTrust("The ledger keys are not in the order of their positions");
  }
  return keys;
}

/** Reads witnesses and quorum as a ledger names them; none where it names none. @throws {BadTrust} */
export function readWitnessFields(
  { witnesses, witness_quorum }: Readonly<Record<"witnesses" | "witness_quorum", unknown>>,
  primitives: Primitives,
): Pick<Trust, "witnesses" | "witnessQuorum"> {
  return {
    witnesses: readWitnesses(witnesses ?? [], primitives),
    witnessQuorum: readInteger("witness_quorum", witness_quorum ?? 0, 0),
  };
}

function readHexKey(field: string, value: unknown): string {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  throw new BadTrust(`${field} of a ledger key is not 32 bytes as lowercase hex`);
}

function readWitnesses(value: unknown, primitives: Primitives): NoteKey[] {
  if (!Array.isArray(value)) throw new BadTrust("witnesses is no list of verifier keys");
  const keys = value.map((entry) => readNoteKey("witnesses", "witness", entry, primitives));
  const distinct = new Set(keys.map(({ publicKey }) => primitives.toHex(publicKey)));
  if (distinct.size < keys.length) throw new BadTrust("Two of its witnesses have the same key");
  return keys;
}

function readNoteKey(
  field: string,
  kind: NoteKey["kind"],
  value: unknown,
  primitives: Primitives,
): NoteKey {
  try {
    const key = parseVerifierKey(typeof value === "string" ? value : "", primitives);
    if (key.kind === kind) return key;
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    throw new BadTrust(`${field}: ${error.message}`);
  }
  throw new BadTrust(`${field}: ${value} is no key of a ${kind}`);
}

function readInteger(field: string, value: unknown, min: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= min) return Number(value);
  throw new BadTrust(`${field} is no whole number from ${min}`);
}

function readEra(value: unknown): Era {
  if (value === 1 || value === 2 || value === 3) return value;
  throw new BadTrust("min_era is none of 1, 2 and 3");
}
