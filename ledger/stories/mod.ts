/**
 * Stories: what receipts are about, by their public fields alone.
 *
 * ```ts
 * if (isName("INC-4f1d22a90b7c")) …
 * KINDS.repairs; // categories
 * ```
 *
 * @module
 */
export { KINDS, type ReceiptKind } from "./kinds.ts";
export { isName } from "./receipt.ts";
