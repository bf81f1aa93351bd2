import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Config, ROOT } from "../../../config.ts";
import { Problem } from "../../../contract/mod.ts";
import { BadFile, readYamlFile, settingsFilePath } from "../../../integrations/files/mod.ts";

const Name = z.string().regex(
  /^[a-z][a-z0-9_-]{0,39}$/,
  "Expected lower-case letters, digits, _ and -, at most 40, with a letter first",
);
const OpenStage = z.strictObject({
  stage: Name,
  probability: z.number().min(0).max(100),
  stale_after_days: z.number().int().min(1).max(3_650).default(14),
});
const LastStage = z.strictObject({ stage: Name, ends: z.enum(["won", "lost"]) });
const Pipeline = z.strictObject({
  pipeline: Name,
  stages: z.array(z.union([OpenStage, LastStage])).min(2).max(50),
}).refine(({ stages }) => isUnique(stages.map(({ stage }) => stage)), {
  error: "A stage is listed twice",
}).refine(({ stages }) => "probability" in stages[0]!, {
  error: "The first stage, in which deals begin, must not end them",
}).refine(
  ({ stages }) =>
    ["won", "lost"].every((end) => stages.some((one) => "ends" in one && one.ends === end)),
  { error: "A stage must end deals as won, and one as lost" },
);
const Pipelines = z.strictObject({
  pipelines: z.array(Pipeline).min(1).max(50)
    .refine((all) => isUnique(all.map(({ pipeline }) => pipeline)), {
      error: "A pipeline is listed twice",
    }),
});

/** The stages of one kind of deals, in their order. */
export type Pipeline = z.output<typeof Pipeline>;
/** A stage: open with a probability, or the end of its deals. */
export type Stage = Pipeline["stages"][number];

const SHIPPED = join(ROOT, "operations", "crm", "records", "pipelines.yaml");

/**
 * Reads the operator's pipelines, or the shipped ones where there is no file.
 *
 * @throws {Problem} `NotConfigured`: the file is wrong, with each mistake and its line
 */
export function readPipelines(config: Config): readonly Pipeline[] {
  const own = settingsFilePath(config, "pipelines");
  const isNamed = !config.readsCopies && config.settings.SEALOOP_PIPELINES !== undefined;
  const isOwn = isNamed || existsSync(own);
  const read = readYamlFile(isOwn ? own : SHIPPED, Pipelines);
  if ("value" in read) return read.value.pipelines;
  const cause = new BadFile(read.mistakes);
  const message = `Cannot use the operator's file of pipelines: ${cause.message}`;
  throw new Problem("NotConfigured", message, { cause });
}

/** Returns what a stage makes of its deals. */
export function statusOf(stage: Stage): "open" | "won" | "lost" {
  return "ends" in stage ? stage.ends : "open";
}

function isUnique(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}
