import type { RunId } from "../../contract/domain/mod.ts";

/** An approved call, and the receipts of its beginning and its end. */
export interface RunOrder {
  readonly approvalId: string;
  readonly run: RunId;
  readonly intentReceiptId: string;
  readonly outcomeReceiptId: string;
}
