/** A case of opened evidence, and what cases are made with. */
import type { EvidenceBundle } from "../../../ledger/opened/mod.ts";

/** A file, and what is said of it. */
export interface Case {
  readonly name: string;
  readonly exit: 0 | 1 | 2;
  /** A line of the verifiers, among others. */
  readonly says: string;
  /** Trust of the reader. */
  readonly trust: "pinned" | "nothing" | "another";
  readonly file: EvidenceBundle;
}

/** A receipt with what was opened of it. */
export type Opened = EvidenceBundle["receipts"][number];

/** Changes one receipt of a file. */
export const edit = (bundle: EvidenceBundle, n: number, change: (receipt: Opened) => Opened) => ({
  ...bundle,
  receipts: bundle.receipts.map((receipt, at) => at === n ? change(receipt) : receipt),
});
/** Leaves entries of one receipt closed. */
export const close = (bundle: EvidenceBundle, n: number, names: readonly string[]) =>
  edit(bundle, n, (receipt) => ({
    ...receipt,
    opened: Object.fromEntries(
      Object.entries(receipt.opened).filter(([name]) => !names.includes(name)),
    ),
  }));
/** A file that holds, or of which that can't be told. */
export const good = (
  name: string,
  says: string,
  file: EvidenceBundle,
  more: Partial<Case> = {},
): Case => ({
  name,
  exit: 0,
  says,
  trust: "pinned",
  file,
  ...more,
});
/** A file that does not hold. */
export const wrong = (name: string, says: string, file: EvidenceBundle): Case =>
  good(name, says, file, { exit: 1 });
