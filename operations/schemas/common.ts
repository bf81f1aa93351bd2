import { z } from "zod";

const MIN_TIME = Date.parse("0001-01-01T00:00:00Z");
const MAX_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** A time in an input. PostgreSQL has no year 0, and four digits end with 9999. */
export const DateTime = z.iso.datetime({
  offset: true,
  error: "Expected a date and a time with its offset, as 2026-07-01T12:00:00Z",
}).refine((text) => Date.parse(text) >= MIN_TIME && Date.parse(text) <= MAX_TIME, {
  error: "Expected a year from 1 to 9999",
});

/** A SHA-256. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/).describe(
  "SHA-256, 64 lowercase hex characters",
);

/** Page size of lists. */
export const Limit = z.number().int().min(1).max(200).default(20).describe(
  "Maximum number of entries to return",
);

/** Id of a receipt, or a prefix. */
export const ReceiptId = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of the id or the hash, any case; a prefix shorter than 8 characters is refused",
);

/** Id of a Temporal workflow. */
export const WorkflowId = z.string().min(1).max(255).describe("Id of the workflow");

/** Id of a Temporal run, in examples. */
export const EXAMPLE_RUN_ID = "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10";
