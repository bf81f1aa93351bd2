import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../../config.ts";
import { EVIDENCE, type EvidenceName } from "./evidence.ts";

/** Frameworks with a list of controls. */
export const FRAMEWORKS = ["nist_csf", "hipaa", "soc2"] as const;

/** One of {@linkcode FRAMEWORKS}. */
export type FrameworkName = typeof FRAMEWORKS[number];

const Framework = z.strictObject({
  framework: z.enum(FRAMEWORKS),
  title: z.string(),
  status: z.string(),
  controls: z.array(z.strictObject({
    id: z.string(),
    category: z.string(),
    title: z.string(),
    evidence: z.array(z.enum(Object.keys(EVIDENCE) as [EvidenceName, ...EvidenceName[]])).min(1),
  })).min(1),
});

/** A framework, with the evidence that each control requires. */
export type Framework = z.output<typeof Framework>;

/** A control. */
export type Control = Framework["controls"][number];

/** Reads the catalogue of controls. @throws {z.ZodError} a file has another shape */
export function readCatalogue(): Framework[] {
  return FRAMEWORKS.map((name) =>
    Framework.parse(
      parse(
        readFileSync(join(ROOT, "judgement", "compliance", "controls", `${name}.yaml`), "utf8"),
      ),
    )
  );
}
