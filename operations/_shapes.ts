import { createHash } from "node:crypto";
import { z } from "zod";

/** ISO 8601 with offset. */
export const Timestamp = z.string().describe("ISO 8601 with offset");

const FIRST = Date.parse("0001-01-01T00:00:00Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/** A moment that a caller names. PostgreSQL has no year 0, and four digits end with 9999. */
export const Moment = z.iso.datetime({
  offset: true,
  error: "Expected a date and a time with its offset, as 2026-07-01T12:00:00Z",
}).refine((text) => Date.parse(text) >= FIRST && Date.parse(text) <= LAST, {
  error: "Expected a year from 1 to 9999",
});

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

/** As {@linkcode characters}, of what somebody tells in words: without the blanks around it, and not blanks alone. */
export function words(least: number, most: number): z.ZodString {
  return characters(least, most).trim().regex(/\S/, "Expected words, and not blanks alone");
}

/** Page size of lists that end at 200. */
export const Limit = z.number().int().min(1).max(200).default(20).describe("Most entries to give");

/** Id of a receipt. */
export const ReceiptId = z.string().min(1).max(128).describe(
  "Full id, or a unique prefix of id or hash; any case. A prefix shorter than 8 characters is refused",
);

/** Id of a Temporal workflow. */
export const WorkflowId = z.string().min(1).max(255).describe("Workflow id");

/** SHA-256 of a text, hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
