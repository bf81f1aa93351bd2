import { z } from "zod";

/** A time in an output. */
export const Timestamp = z.string().describe("ISO 8601 with offset");

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
