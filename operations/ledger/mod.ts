/** Receipts: reading, verifying and sealing them. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { ledgerPage, receipt } from "./entries.ts";
import { search, verifyAll, verifyOne } from "./receipts.ts";
import { seal, sealStatus } from "./seal.ts";

/** Operations of this folder. */
export const ledgerOperations: readonly Operation<Platform>[] = [
  ledgerPage,
  receipt,
  seal,
  sealStatus,
  verifyOne,
  verifyAll,
  search,
];
