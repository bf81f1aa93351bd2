import { loadSigningKey } from "../crypto/mod.ts";
import {
  isSignedBy,
  type LogSettings,
  parseOwnCheckpoint,
  readIfPresent,
  writeDurably,
} from "../log/mod.ts";
import { BadNote, type Checkpoint, parseNote } from "../notes/mod.ts";
import { RestoreRefused } from "./errors.ts";

/** The log whose checkpoints count, and its witnesses. */
export type LogFiles = Pick<
  LogSettings,
  "keyFile" | "checkpointFile" | "witnesses" | "witnessQuorum"
>;

/** A checkpoint to start from. */
export interface StartCheckpoint extends Checkpoint {
  /** As it was signed, cosignatures included. */
  readonly note: string;
}

/**
 * Chooses the checkpoint that a signer without a state starts from: the one that the operator names, else the newest that
 * is here with the cosignatures of the quorum. Without a quorum only one that the operator names counts.
 *
 * @param named note that the operator names
 * @param published note that the database has
 * @throws {RestoreRefused} there is none, or a newer one was signed
 */
export async function chooseCheckpoint(
  log: LogFiles,
  named: string | undefined,
  published: string | undefined,
): Promise<StartCheckpoint> {
  const { publicKey } = loadSigningKey(log.keyFile);
  const parse = (note: string): StartCheckpoint | undefined => {
    try {
      return { ...parseOwnCheckpoint(note, publicKey), note };
    } catch (error) {
      if (error instanceof BadNote) return undefined;
      throw error;
    }
  };
  const here = [await readIfPresent(log.checkpointFile), published]
    .flatMap((note) => (note === undefined ? undefined : parse(note)) ?? []);
  const start = named === undefined
    ? here.filter(({ note }) => hasQuorum(note, log)).sort((a, b) => b.size - a.size)[0]
    : parse(named);
  if (!start) {
    throw new RestoreRefused(
      named === undefined
        ? "The signer's state is missing or older than the ledger. Name the newest checkpoint that you can find, in a " +
          "backup or where others keep it: --checkpoint <file>"
        : "The checkpoint is not signed by the log's key, checkpoint.key",
    );
  }
  const newest = Math.max(0, ...here.map(({ size }) => size));
  if (start.size < newest) {
    throw new RestoreRefused(
      `The checkpoint is of ${start.size} receipts, and one of ${newest} was signed: name that`,
    );
  }
  return start;
}

function hasQuorum(note: string, { witnesses, witnessQuorum: quorum }: LogFiles): boolean {
  const parsed = parseNote(note);
  const cosigned = witnesses.filter(({ key }) => isSignedBy(parsed, key));
  return quorum > 0 && cosigned.length >= quorum;
}

/** Stores the checkpoint as the newest that was signed, where a newer one is not there. */
export async function rememberCheckpoint(
  { checkpointFile }: LogFiles,
  { note }: StartCheckpoint,
): Promise<void> {
  await writeDurably(checkpointFile, note);
}
