import { z } from "zod";
import { defineOperation, InvalidInput } from "../../contract/mod.ts";
import { AmbiguousReceipt, findReceipt, type StoredReceipt } from "../receipts/mod.ts";
import type { LedgerParts } from "./parts.ts";

/** Defines an operation of the public ledger. */
export const operation = defineOperation<LedgerParts>();

/** The fields that all of them share. */
export const common = {
  group: "ledger",
  effect: "read",
  access: "public",
  presentation: { errors: ["Unavailable"] },
} as const;

/** The id of a receipt in a path. */
export const ReceiptId = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash; any case. A prefix shorter than 8 characters is refused",
);

/**
 * Finds a receipt by what a path says.
 *
 * @throws {InvalidInput} several receipts match
 * @throws {ReceiptNotFound}
 */
export async function findByPath(
  { store }: Pick<LedgerParts, "store">,
  idOrPrefix: string,
): Promise<StoredReceipt> {
  try {
    return await findReceipt(store, idOrPrefix);
  } catch (error) {
    if (!(error instanceof AmbiguousReceipt)) throw error;
    throw new InvalidInput([{ path: ["receipt_id"], msg: error.message, type: "ambiguous" }]);
  }
}
