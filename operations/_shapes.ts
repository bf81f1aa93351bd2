import { z } from "zod";

/** ISO 8601 with offset. */
export const Timestamp = z.string().describe("ISO 8601 with offset");

/** Lowercase hex of a SHA-256. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/).describe("SHA-256, 64 hex characters");

/** Page size of lists that end at 200. */
export const Limit = z.number().int().min(1).max(200).default(20).describe("Most entries to give");

/** Id of a receipt. */
export const ReceiptId = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash of at least 8 characters; any case",
);

/** Id of a Temporal workflow. */
export const WorkflowId = z.string().min(1).max(255).describe("Workflow id");
