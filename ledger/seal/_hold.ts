import type pg from "pg";
import { BadKeyFile } from "../crypto/mod.ts";
import { ClockWentBack, SignatureRefused, SignerStateError } from "../signer/mod.ts";

/** Sealing waits for the operator: another signature could fork the chain, or the signer can't remember one. */
export class SealingHeld extends Error {
  override readonly name = "SealingHeld";
}

const NEEDS_OPERATOR = [SignerStateError, SignatureRefused, ClockWentBack, BadKeyFile];
/** Errors of a disk that is full, read-only or failing. */
const DISK_ERRORS = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EACCES", "EPERM"];

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

/** Stores why sealing is held, for all who ask for the platform's status. */
export async function storeHold(client: pg.ClientBase, { message }: SealingHeld): Promise<void> {
  await client.query(
    `INSERT INTO ledger_hold (reason) VALUES ($1)
     ON CONFLICT (one) DO UPDATE SET reason = excluded.reason`,
    [message],
  );
}

/** Notes that sealing is not held. */
export async function removeHold(client: pg.ClientBase): Promise<void> {
  await client.query("DELETE FROM ledger_hold");
}
