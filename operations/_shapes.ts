import { createHash } from "node:crypto";
import { z } from "zod";

/** ISO 8601 with offset. */
export const Timestamp = z.string().describe("ISO 8601 with offset");

/** Lowercase hex of a SHA-256. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/).describe("SHA-256, 64 hex characters");

/** Text whose length is counted in characters, as JSON Schema does, and not in UTF-16 units as zod does. */
export function characters(least: number, most: number): z.ZodString {
  return z.string().check((ctx) => {
    const length = [...ctx.value].length;
    const { value: input } = ctx;
    const issue = { origin: "string", inclusive: true, input } as const;
    if (length < least) ctx.issues.push({ code: "too_small", minimum: least, ...issue });
    if (length > most) ctx.issues.push({ code: "too_big", maximum: most, ...issue });
  }).meta({ minLength: least, maxLength: most });
}

/** Page size of lists that end at 200. */
export const Limit = z.number().int().min(1).max(200).default(20).describe("Most entries to give");

/** Id of a receipt. */
export const ReceiptId = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash of at least 8 characters; any case",
);

/** Id of a Temporal workflow. */
export const WorkflowId = z.string().min(1).max(255).describe("Workflow id");

/** SHA-256 of a text, hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
