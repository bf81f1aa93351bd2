import { z } from "zod";

/** A time in an output. */
export const Timestamp = z.string().describe("ISO 8601 with offset");

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

/** Returns the schema of a text whose length is counted in characters, as in JSON Schema; zod counts UTF-16 units. */
export function text(min: number, max: number): z.ZodString {
  return z.string().check((ctx) => {
    const length = [...ctx.value].length;
    const issue = { origin: "string", inclusive: true, input: ctx.value } as const;
    if (length < min) ctx.issues.push({ code: "too_small", minimum: min, ...issue });
    if (length > max) ctx.issues.push({ code: "too_big", maximum: max, ...issue });
  }).meta({ minLength: min, maxLength: max });
}

/** Returns the same as {@linkcode trimmedText} for a text of one line: it may get into the header of a mail. */
export function oneLine(min: number, max: number): z.ZodString {
  return trimmedText(min, max).refine((one) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(one), {
    error: "Expected one line, without control characters",
  });
}

/** Returns the same as {@linkcode text} for a text that is trimmed and must not be blank. */
export function trimmedText(min: number, max: number): z.ZodString {
  return text(min, max).trim().regex(/\S/, "Expected text that is not blank");
}
