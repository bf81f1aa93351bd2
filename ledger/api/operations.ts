import { anchorOperations } from "./anchor_operations.ts";
import { chainOperations } from "./chain_operations.ts";
import { exportOperations } from "./export_operations.ts";
import { logOperations } from "./log_operations.ts";
import { receiptOperations } from "./receipt_operations.ts";
import { statusOperations } from "./status_operations.ts";

/** The operations of the public ledger, bound by a process of their own. */
export const ledgerOperations = [
  ...anchorOperations, // first: `/api/receipt/{receipt_id}` would match their paths, too
  ...chainOperations,
  ...receiptOperations,
  ...exportOperations,
  ...logOperations,
  ...statusOperations,
] as const;
