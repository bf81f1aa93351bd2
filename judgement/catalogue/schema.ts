import { z } from "zod";
import { DEVICE_LIMITS, DEVICE_PLATFORMS } from "../../contract/domain/mod.ts";

/** Id of a script. */
export const ScriptId = z.string()
  .regex(/^[a-z][a-z0-9-]{1,62}$/, "Expected lower-case letters, digits, -")
  .describe("Id of a script of the catalogue, such as disk-usage");

const Sentence = z.string().min(8).max(600);

const Parameter = z.strictObject({
  about: Sentence,
  pattern: z.string().min(1).max(300)
    .describe("Regular expression that the whole value matches"),
  default: z.string().max(1_000).optional(),
  lines: z.boolean().default(false).describe("Whether the value may have several lines"),
});

/** A script as its file has it. */
export const ScriptFile = z.strictObject({
  script: ScriptId.describe("Its name; the file is named like it"),
  version: z.number().int().min(1).max(1_000_000).describe("Rises with every change"),
  title: z.string().min(3).max(120),
  about: Sentence,
  platforms: z.array(z.enum(DEVICE_PLATFORMS)).min(1).default(["linux"]),
  user: z.string().regex(/^[a-z_][a-z0-9_-]{0,31}$/).default("agent")
    .describe("Account that runs it; agent: the one of the agent's privileged half"),
  parameters: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,31}$/), Parameter).default({}),
  argv: z.array(z.string().min(1).max(4_000)).min(1).max(DEVICE_LIMITS.argumentCount)
    .describe("Program and arguments, never a shell line; {name} is replaced by a parameter"),
  timeout_seconds: z.number().int().min(1).max(DEVICE_LIMITS.timeoutSeconds).default(60),
  output_bytes: z.number().int().min(0).max(DEVICE_LIMITS.outputBytes).default(65_536)
    .describe("Bytes of output that are kept"),
  read_only: z.boolean().describe("True: it changes nothing on the device"),
  verify: ScriptId.optional()
    .describe(
      "Read-only script that shows whether this one did its work; takes no other parameters",
    ),
  undo: z.union([
    z.strictObject({ script: ScriptId }),
    z.strictObject({ none: Sentence.describe("Why there is no opposite") }),
  ]).optional().describe("Its opposite; needed where it is not read-only"),
});

/** A script as its file has it. */
export type ScriptDocument = z.output<typeof ScriptFile>;

/** Returns the JSON Schema of a script's file. */
export function scriptFileSchema(): Record<string, unknown> {
  return {
    title: "A script of sealoop's catalogue for devices",
    ...z.toJSONSchema(ScriptFile, { io: "input" }),
  };
}
