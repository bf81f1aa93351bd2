import { dirname, sep } from "node:path";
import pg from "pg";
import { BadKeyFile } from "../crypto/mod.ts";
import { ClockWentBack, SignatureRefused, SignerStateError } from "../signer/mod.ts";

/** Sealing waits for the operator: another signature could fork the chain, or the signer can't remember one. */
export class SealingHeld extends Error {
  override readonly name = "SealingHeld";
}

const NEEDS_OPERATOR = [SignerStateError, SignatureRefused, ClockWentBack, BadKeyFile];
/** Errors of a disk that is full, read-only or failing. */
const DISK_ERRORS = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EACCES", "EPERM"];
/**
 * PostgreSQL's error codes and their classes, as far as a sequencer may meet them.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const DATABASE_ERRORS: Readonly<Record<string, string>> = {
  "25006": "the database is read-only",
  "42501": "the sequencer's role lacks a right in the database",
  "23": "a rule of the ledger's tables refuses a batch",
  "42": "the database's tables are not those of this version of the platform",
  "53": "PostgreSQL is out of disk, memory or connections",
  "57": "PostgreSQL stops or interrupts the sequencer's statements",
  "58": "PostgreSQL can't read or write its files",
  P0: "a function of the ledger refuses a batch",
  XX: "PostgreSQL reports damaged data",
};

/** Returns the reason to hold sealing, or undefined for an error that passes by itself. */
export function toHold(error: unknown): SealingHeld | undefined {
  if (error instanceof SealingHeld) return error;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (NEEDS_OPERATOR.some((kind) => error instanceof kind)) {
    return new SealingHeld(message, { cause: error });
  }
  if (syscall === undefined || !DISK_ERRORS.includes(code ?? "")) return undefined;
  return new SealingHeld(`The signer's files can't be written: ${code}`, { cause: error });
}

/**
 * Stores why sealing is held or why the sequencer ended, for all who ask for the platform's status, which is public: with
 * file names and without their folder, and of other errors than {@linkcode SealingHeld} the kind alone.
 */
export async function storeTrouble(
  client: pg.ClientBase,
  error: unknown,
  keyFile: string,
): Promise<void> {
  const held = error instanceof SealingHeld;
  const reason = held
    ? error.message.replaceAll(dirname(keyFile) + sep, "")
    : describeFailure(error);
  await client.query(
    `INSERT INTO ledger_trouble (reason, held) VALUES ($1, $2)
     ON CONFLICT (one) DO UPDATE SET reason = excluded.reason, held = excluded.held, at = now()`,
    [reason, held],
  );
}

/** Notes that sealing is not held. */
export async function removeHold(client: pg.ClientBase): Promise<void> {
  await client.query("DELETE FROM ledger_trouble WHERE held");
}

/** Describes an error without its message, which may have paths, statements and values. */
function describeFailure(error: unknown): string {
  if (!(error instanceof pg.DatabaseError)) {
    return `the sequencer meets ${error instanceof Error ? error.name : "an error"}`;
  }
  const { code = "" } = error;
  const words = DATABASE_ERRORS[code] ?? DATABASE_ERRORS[code.slice(0, 2)] ??
    "PostgreSQL refuses a statement of the sequencer";
  return `${words} (${code})`;
}
