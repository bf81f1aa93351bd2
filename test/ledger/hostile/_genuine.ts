/** The genuine ledgers of the vectors, with their log and its witnesses, and what somebody has pinned of them. */
import { sign } from "node:crypto";
import { formatVerifierKey } from "../../../ledger/log/mod.ts";
import type { NoteKey } from "../../../ledger/notes/mod.ts";
import { formatRotation } from "../../../ledger/rules/mod.ts";
import {
  content,
  cosignLine,
  extend,
  hashOf,
  makeEra1,
  makeKey,
  sealEra2,
  signLine,
  stateCheckpoint,
  type TestKey,
} from "./_chain.ts";
import type { ServerVector, Vectors } from "./_vectors.ts";

export const ORIGIN = "ledger.example";

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

/** Contents of receipts, by their numbers. */
export const contents = (from: number, to: number) => range(from, to).map((n) => content(n));

const noteKey = (name: string, { publicKey }: TestKey, kind: NoteKey["kind"]): NoteKey => ({
  name,
  publicKey,
  kind,
});

/** Keys of the genuine ledgers. */
export const ledger = makeKey("ledger");
export const recovery = makeKey("recovery key of the ledger");
const oldLedger = makeKey("ledger of before");
const nextLedger = makeKey("ledger after a rotation");
export const log = makeKey("log");
export const logNote = noteKey(ORIGIN, log, "log");
export const witnesses = ["w1", "w2", "w3"].map((name) => {
  const key = makeKey(`witness ${name}`);
  return { key, note: noteKey(`witness.example/${name}`, key, "witness") };
});

/** Keys of whoever attacks them. */
export const attacker = makeKey("attacker");
export const attackersRecovery = makeKey("recovery key of the attacker");
export const attackersLog = makeKey("log of the attacker");
export const attackersNote = noteKey(ORIGIN, attackersLog, "log");
export const stranger = makeKey("witness that nobody has pinned");
export const strangerNote = noteKey("witness.example/stranger", stranger, "witness");

/** The first receipt of a ledger: it introduces the ledger's key and its recovery key. */
export function genesis({ hex: ledger_key }: TestKey, { hex: recovery_key }: TestKey) {
  const details = { ledger_key, recovery_key };
  return content(0, { category: "ledger_genesis", action: "began", details });
}

/** The first own receipt of a ledger after those that it has imported. */
export function adoption(
  before: readonly string[],
  { hex: ledger_key }: TestKey,
  { hex: recovery_key }: TestKey,
  keys: readonly unknown[],
) {
  const details = {
    ledger_key,
    recovery_key,
    size: before.length,
    head: hashOf(before.at(-1)),
    keys,
  };
  return content(before.length, { category: "ledger_adopted", action: "adopted", details });
}

/** A ledger of 12 receipts. */
export const own = extend([], [genesis(ledger, recovery), ...contents(1, 12)], ledger);

/** The same, but that the key changes after position 6. @param signer of the receipt that says so */
export function makeRotated(next: TestKey, signer: TestKey): string[] {
  const before = own.slice(0, 6);
  const rotation = {
    firstKey: ledger.hex,
    oldKey: ledger.hex,
    newKey: next.hex,
    position: 6,
    previousHash: hashOf(before.at(-1)),
  };
  const proof = sign(null, Buffer.from(formatRotation(rotation)), next.privateKey);
  const details = {
    first_key: rotation.firstKey,
    old_key: rotation.oldKey,
    new_key: rotation.newKey,
    recovery_key: recovery.hex,
    from_position: 7,
    new_key_signature: proof.toString("hex"),
  };
  const handover = content(6, { category: "key_rotated", action: "rotated", details });
  return extend(extend(before, [handover], signer), contents(7, 12), next);
}

const rotated = makeRotated(nextLedger, ledger);

const IMPORTED_KEY = { public_key: oldLedger.hex, from_position: 0 };

/** A ledger of 10 receipts that began with eras 1 and 2. */
export const imported = makeImported();

function makeImported(): string[] {
  const chain: string[] = [];
  for (const n of [0, 1]) chain.push(makeEra1(content(n), hashOf(chain.at(-1))));
  for (const n of [2, 3, 4]) chain.push(sealEra2(content(n), hashOf(chain.at(-1)), oldLedger));
  return extend(
    chain,
    [adoption(chain, ledger, recovery, [IMPORTED_KEY]), ...contents(6, 10)],
    ledger,
  );
}

export const chains: Vectors["chains"] = { own, imported, rotated };

/** Signs a checkpoint as the log, with cosignatures of some witnesses. */
export function checkpoint(
  records: readonly string[],
  cosigners = [0, 1],
  origin = ORIGIN,
): string {
  const text = stateCheckpoint(origin, records);
  return [
    `${text}\n`,
    signLine(text, { ...logNote, name: origin }, log),
    ...cosigners.map((n) => cosignLine(text, witnesses[n]!.note, witnesses[n]!.key)),
  ].join("");
}

/** Names a key as the ledger publishes it. */
export const nameKey = (key: TestKey, from_position: number, { hex: recovery_key } = recovery) => ({
  public_key: key.hex,
  from_position,
  recovery_key,
});

/** The names that the genuine ledger gives. */
export const named = {
  keys: [nameKey(ledger, 0)],
  log: { verifier_key: formatVerifierKey(logNote) },
};
export const rotatedKeys = [nameKey(ledger, 0), nameKey(nextLedger, 7)];
export const importedKeys = [IMPORTED_KEY, nameKey(ledger, 5)];

const log_key = formatVerifierKey(logNote);

/** Trust files. */
export const trust: Vectors["trust"] = {
  all: {
    ledger_keys: named.keys,
    log_key,
    witnesses: witnesses.map(({ note }) => formatVerifierKey(note)),
    witness_quorum: 2,
    min_era: 3,
    checkpoint: checkpoint(own.slice(0, 8)),
  },
  keys: { ledger_keys: named.keys },
  keysUnsigned: {
    ledger_keys: [{ public_key: ledger.hex, from_position: 0 }],
    min_era: 1,
  },
  keysAndLog: { ledger_keys: named.keys, log_key },
  imported: { ledger_keys: importedKeys, log_key, min_era: 1 },
  importedSigned: { ledger_keys: importedKeys, log_key },
  oldKeyOnly: { ledger_keys: importedKeys.slice(0, 1), min_era: 1 },
};

export type Server = Vectors["servers"][number];

/**
 * Adds a server. What is not said of it is as the genuine ledger has it.
 *
 * @param reason pattern that every verifier's reason matches
 */
export type AddServer = (
  exit: ServerVector["exit"],
  name: string,
  reason: string | undefined,
  changes?: Partial<Server> & { readonly texts?: readonly string[] },
) => void;

export const NO_LOG = { checkpoint: null, named: { ...named, log: null } };
export const IMPORTED = {
  chain: "imported",
  trust: "imported",
  named: { ...named, keys: importedKeys },
} as const;
