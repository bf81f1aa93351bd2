import type { EraCounts, ShownCheckpoint } from "./judge.ts";
import { parseVerifierKey } from "../notes/mod.ts";
import type { Era, Primitives, TrustedKey } from "../rules/mod.ts";
import {
  BadTrust,
  NOTHING_PINNED,
  readWitnessFields,
  type Trust,
  withCheckpoint,
} from "./trust.ts";

/** The receipts of a ledger that was verified. */
export interface VerifiedReceipts {
  readonly keys: readonly TrustedKey[];
  readonly eras: EraCounts;
}

/**
 * Pins what a ledger shows, as one does at the first sight: from then on, it can't show anything else.
 *
 * @param named fields of `/api/how-to-verify`
 * @throws {BadTrust} it shows no key, or witnesses that are none
 */
export function pinShown(
  named: Readonly<Record<string, unknown>>,
  { note, verifierKey }: ShownCheckpoint,
  { keys, eras }: VerifiedReceipts,
  primitives: Primitives,
): Trust {
  if (keys.length === 0) throw new BadTrust("The ledger names no key that could be pinned");
  const minEra = eras.findIndex((count) => count > 0) + 1 as Era;
  const trust = { ...NOTHING_PINNED, ledgerKeys: keys, minEra };
  if (note === undefined || verifierKey === undefined) return trust;
  const logKey = parseVerifierKey(verifierKey, primitives);
  const { witnesses, witness_quorum } = Object(named.log);
  const cosigned = readWitnessFields({ witnesses, witness_quorum }, primitives);
  return withCheckpoint({ ...trust, ...cosigned, logKey }, note, primitives);
}
