import { type Anchor, findAnchor, listAnchors } from "../anchors/mod.ts";
import type { StoredReceipt } from "../receipts/mod.ts";
import type { LedgerParts } from "./parts.ts";

/** The anchor of a receipt. It is looked up when the receipt is read, and is not part of what is signed. */
export interface AnchorSummary {
  /** True only with a block whose header was verified. */
  readonly bitcoin_anchored: boolean;
  readonly anchor: {
    /** `unbatched`: the receipt waits for the next batch; else the state of its batch. */
    readonly state: "unbatched" | Anchor["state"];
    readonly block_height: number | null;
    readonly block_hash: string | null;
    /** 80 bytes, hex. */
    readonly block_header: string | null;
    readonly block_time: string | null;
    /** Address of the proof; null while there is none. */
    readonly proof_url: string | null;
    /** Address of the bytes that the proof is about. */
    readonly bytes_url: string;
  };
}

/** Gets the anchor of a receipt. */
export async function getAnchorSummary(
  { store, ledgerUrl }: Pick<LedgerParts, "store" | "ledgerUrl">,
  { id, position }: Pick<StoredReceipt, "id" | "position">,
): Promise<AnchorSummary> {
  const anchor = await findAnchor(store, position);
  const state = anchor?.state ?? "unbatched";
  const block = anchor?.block;
  const hasProof = state === "pending" || state === "confirmed";
  return {
    bitcoin_anchored: state === "confirmed",
    anchor: {
      state,
      block_height: block?.height ?? null,
      block_hash: block?.hash ?? null,
      block_header: block?.header ?? null,
      block_time: block?.time.toISOString() ?? null,
      proof_url: hasProof ? receiptFileUrl(ledgerUrl, id, "ots") : null,
      bytes_url: receiptFileUrl(ledgerUrl, id, "bin"),
    },
  };
}

/** Looks up which receipts of a page are in a block. @param page newest first */
export async function createAnchorLookup(
  store: LedgerParts["store"],
  page: readonly StoredReceipt[],
): Promise<(position: number) => boolean> {
  const to = (page[0]?.position ?? -1) + 1;
  const batches = page.length === 0 ? [] : await listAnchors(store, { from: to - page.length, to });
  const confirmed = batches.filter(({ state }) => state === "confirmed");
  return (position) => confirmed.some(({ first, last }) => first <= position && position <= last);
}

/** Returns the address of a receipt's bytes or proof. */
export function receiptFileUrl(ledgerUrl: string, id: string, ending: "ots" | "bin"): string {
  return `${ledgerUrl}/api/receipt/${encodeURIComponent(id)}.${ending}`;
}
