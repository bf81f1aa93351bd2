import { z } from "zod";
export { Sha256 } from "../schemas/mod.ts";

/** A hash, in examples. */
export const exampleSha256 = "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10";

/** Counts of checks. What does not apply to a device is not counted. */
export const CheckCounts = z.object({
  passed: z.number().int().min(0),
  failed: z.number().int().min(0),
  unknown: z.number().int().min(0).describe("Never a pass: the device does not tell, or is silent"),
}).meta({ id: "CheckCounts" });
