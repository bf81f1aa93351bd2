import {
  BadNote,
  type Checkpoint,
  findSignature,
  type Note,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
} from "../notes/mod.ts";
import { isSameHash, type Primitives } from "../rules/mod.ts";
import type { Trust } from "./trust.ts";

/** The checkpoint that a ledger shows. */
export interface ShownCheckpoint {
  /** A C2SP tlog-checkpoint; undefined: it shows none. */
  readonly note: string | undefined;
  /** Key of the Merkle log as the ledger names it, as `name+id+key`; undefined: it names none. */
  readonly verifierKey: string | undefined;
}

/** The judgement of what a ledger shows beside its receipts. */
export interface Judgement {
  /** Checkpoints that the receipts must match. */
  readonly checkpoints: readonly Checkpoint[];
  /** Pinned facts that do not hold. */
  readonly faults: readonly string[];
  /** Pinned facts that are not there, so that nobody can tell whether they hold. */
  readonly absent: readonly string[];
}

/**
 * Judges the checkpoint that a ledger shows by what a verifier trusts: the log's signature, the cosignatures of pinned
 * witnesses, and that it is not older than the newest one seen.
 */
export function judgeCheckpoint(
  trust: Trust,
  shown: ShownCheckpoint,
  primitives: Primitives,
): Judgement {
  const seen = trust.checkpoint ? [trust.checkpoint] : [];
  const fail = (fault: string): Judgement => ({ checkpoints: seen, faults: [fault], absent: [] });
  try {
    const key = trust.logKey ?? readShownKey(shown, primitives);
    if (!key) return { checkpoints: seen, faults: [], absent: [] };
    const whose = trust.logKey ? "pinned" : "published";
    if (shown.note === undefined) {
      const absent = `The log's key is ${whose}, and there is no checkpoint signed by it`;
      return { checkpoints: seen, faults: [], absent: [absent] };
    }
    const note = parseNote(shown.note);
    const checkpoint = parseCheckpoint(note.text);
    if (checkpoint.origin !== key.name) {
      return fail(
        `The checkpoint is of the log ${checkpoint.origin}, and the ${whose} key of ${key.name}`,
      );
    }
    if (findSignature(note, key, primitives) !== "valid") {
      return fail(`The checkpoint is not signed by the ${whose} key of ${key.name}`);
    }
    const { faults, absent } = judgeCosignatures(trust, note, primitives);
    return {
      checkpoints: seen.some((one) => isSameCheckpoint(one, checkpoint))
        ? [checkpoint]
        : [...seen, checkpoint],
      faults: [...faults, ...compareWithSeen(trust, checkpoint)],
      absent,
    };
  } catch (error) {
    if (!(error instanceof BadNote)) throw error;
    return fail(`The checkpoint or the log's key can't be read: ${error.message}`);
  }
}

function readShownKey(
  { verifierKey }: ShownCheckpoint,
  primitives: Primitives,
): NoteKey | undefined {
  return verifierKey === undefined ? undefined : parseVerifierKey(verifierKey, primitives);
}

function judgeCosignatures(
  { witnesses, witnessQuorum }: Trust,
  note: Note,
  primitives: Primitives,
): Pick<Judgement, "faults" | "absent"> {
  const results = witnesses.map((key) => ({
    name: key.name,
    result: findSignature(note, key, primitives),
  }));
  const namesOf = (wanted: string) =>
    results.filter(({ result }) => result === wanted).map(({ name }) => name);
  const cosigned = namesOf("valid");
  const faults = namesOf("wrong").map((name) =>
    `The checkpoint has a cosignature of ${name} that does not verify`
  );
  const absent = cosigned.length < witnessQuorum
    ? [
      `The checkpoint needs cosignatures of ${witnessQuorum} pinned witnesses, and has ` +
      (cosigned.length === 0 ? "none" : `${cosigned.length}: ${cosigned.join(", ")}`),
    ]
    : [];
  return { faults, absent };
}

function compareWithSeen({ checkpoint: seen }: Trust, { size, root }: TreeHead): string[] {
  if (!seen) return [];
  if (size < seen.size) {
    return [
      `The checkpoint is of ${size} receipts, and you have seen one of ${seen.size}: it is an old one`,
    ];
  }
  if (size === seen.size && !isSameCheckpoint(seen, { size, root })) {
    return [
      `There are two checkpoints of ${size} receipts that contradict each other: the log was forked`,
    ];
  }
  return [];
}

type TreeHead = Pick<Checkpoint, "size" | "root">;

const isSameCheckpoint = (a: TreeHead, b: TreeHead): boolean =>
  a.size === b.size && isSameHash(a.root, b.root);

/** Number of receipts of eras 1, 2 and 3. */
export type EraCounts = readonly [number, number, number];

/** Judges whether receipts are of eras that prove enough, and signed at all where a key is pinned. */
export function judgeEras(
  { ledgerKeys, minEra }: Trust,
  eras: EraCounts,
): Pick<Judgement, "faults" | "absent"> {
  const weak = eras.slice(0, minEra - 1).reduce((sum, count) => sum + count, 0);
  const faults = weak === 0 ? [] : [
    `${weak} ${weak === 1 ? "receipt is" : "receipts are"} of an era before ${minEra}` +
    (eras[0] > 0
      ? ", and era 1 is not signed: allow it only if you know that the ledger began so"
      : ""),
  ];
  const hasSigned = eras[1] + eras[2] > 0;
  const absent = ledgerKeys.length > 0 && !hasSigned
    ? ["A key of the ledger is pinned, and no receipt is signed by it"]
    : [];
  return { faults, absent };
}

/** Describes that pinned keys do not vouch for all keys of a chain. @param from position; undefined: they do */
export function describeUnproven({ ledgerKeys }: Trust, from: number | undefined): string[] {
  if (ledgerKeys.length === 0 || from === undefined) return [];
  return [`From position ${from} on no pinned key vouches for the key of the ledger`];
}
