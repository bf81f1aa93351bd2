import { formatSignature, isSignedBy, parseVerifierKey } from "../../../ledger/log/mod.ts";
import {
  BadNote,
  type Checkpoint,
  parseCheckpoint,
  parseNote,
  parseSignatures,
} from "../../../ledger/notes/mod.ts";
import { isSameHash } from "../../../ledger/rules/mod.ts";
import type { DeviceRecord } from "../../../store/devices/mod.ts";
import type { DeviceLogReader } from "./device_log.ts";

/** A checkpoint that the log has signed, and a device has accepted and cosigned. */
export interface CosignedCheckpoint extends Checkpoint {
  /** The signed note, as the device has it. */
  readonly note: string;
  /** The note with the log's signature alone. */
  readonly proof: string;
  /** Signature line of the device's runner (C2SP tlog-cosignature). */
  readonly cosignature: string;
}

/**
 * Returns the checkpoint that a device has cosigned; undefined where the log's key has not signed the note, or the
 * device's runner has not cosigned it. So neither can make up what the other has seen.
 *
 * @param verifierKey of the log
 */
export function verifyCosigned(
  { note, cosignature }: Pick<CosignedCheckpoint, "note" | "cosignature">,
  { id, runnerKey }: Pick<DeviceRecord, "id" | "runnerKey">,
  verifierKey: string,
): CosignedCheckpoint | undefined {
  try {
    const { text, signatures } = parseNote(note);
    const logKey = parseVerifierKey(verifierKey);
    const own = signatures.find((one) => isSignedBy({ text, signatures: [one] }, logKey));
    const cosigned = { text, signatures: parseSignatures(cosignature) };
    const publicKey = Buffer.from(runnerKey, "hex");
    if (!own || !isSignedBy(cosigned, { name: id, publicKey, kind: "witness" })) return undefined;
    const proof = `${text}\n${formatSignature(logKey, own.value)}`;
    return { ...parseCheckpoint(text), note, proof, cosignature };
  } catch (error) {
    if (error instanceof BadNote) return undefined;
    throw error;
  }
}

/**
 * Returns whether a checkpoint contradicts the log: that is shorter, or has another root at this size. Every device is
 * compared with the one log, so that two of them which saw different heads do not both agree with it.
 */
export async function contradictsLog(
  { size, root }: Checkpoint,
  log: DeviceLogReader,
): Promise<boolean> {
  const newest = await log.newest(size);
  if (!newest || newest.size < size) return true;
  return size > 0 && !isSameHash(await log.rootAt(size), root);
}
