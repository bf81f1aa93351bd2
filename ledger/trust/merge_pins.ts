import type { TrustedKey } from "../rules/mod.ts";
import type { Trust } from "./trust.ts";

/**
 * Returns the keys to verify with: the pinned ones, each where it is pinned, and those that the ledger publishes for other
 * positions. Of these, receipts must prove how each is introduced.
 */
export function mergePins(
  { ledgerKeys }: Pick<Trust, "ledgerKeys">,
  published: readonly TrustedKey[],
): TrustedKey[] {
  const pinned = ledgerKeys.map((key): TrustedKey => {
    const same = published.find((one) =>
      one.publicKey === key.publicKey && one.fromPosition === key.fromPosition
    );
    return { ...same, ...key, isPinned: true }; // which recovery key it has, its first receipt proves
  });
  const isElsewhere = ({ fromPosition }: TrustedKey) =>
    !pinned.some((key) => key.fromPosition === fromPosition);
  return [...pinned, ...published.filter(isElsewhere)]
    .sort((a, b) => a.fromPosition - b.fromPosition);
}
