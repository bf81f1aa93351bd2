import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";

const Algorithm = z.strictObject({
  ref: z.string(),
  name: z.string(),
  oid: z.string().optional(),
  primitive: z.enum(["hash", "signature", "mac", "ae", "kdf", "drbg"]),
  functions: z.array(z.string()),
  parameters: z.string().optional(),
  curve: z.string().optional(),
  classical: z.number(),
  quantum: z.number(),
  usedFor: z.string(),
  where: z.array(z.string()),
});

/** A cryptographic algorithm, with the files that use it. */
export type Algorithm = z.output<typeof Algorithm>;

/** Reads the algorithms that the product's own code uses. @throws {z.ZodError} the file has another shape */
export function readAlgorithms(): Algorithm[] {
  const text = readFileSync(join(ROOT, "judgement", "compliance", "algorithms.yaml"), "utf8");
  return z.array(Algorithm).parse(parse(text));
}
