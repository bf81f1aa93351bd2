import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Config, ROOT } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { BadFile, readYamlFile, settingsFilePath } from "../files/mod.ts";

const Name = z.string().regex(
  /^[a-z][a-z0-9_-]{0,39}$/,
  "Expected lower-case letters, digits, _ and -, at most 40, with a letter first",
);
const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const Duration = z.string().regex(/^\d{1,5}[smhd]$/, "Expected a duration like 30m, 2h or 3d")
  .transform((text) => Number(text.slice(0, -1)) * SECONDS[text.at(-1) as keyof typeof SECONDS]);
const OneLine = z.string().min(1).max(400).regex(/^[^\p{Cc}]*$/u, "Expected one line");
const Step = z.strictObject({
  after: Duration.describe("Wait before it: after the step before, or after the start"),
  subject: OneLine,
  body: z.string().min(1).max(100_000),
});
const Sequence = z.strictObject({
  sequence: Name,
  about: z.string().max(400).default(""),
  steps: z.array(Step).min(1).max(50),
});
const AutoReply = z.strictObject({
  from: z.array(z.string().min(1).max(254)).min(1).max(100)
    .describe("Senders, in which * stands for any text: *@example.com"),
  tenant: Name.default("platform"),
});
const MailRules = z.strictObject({
  auto_replies: z.array(AutoReply).max(100).default([]),
  sequences: z.array(Sequence).max(200).default([])
    .refine((all) => new Set(all.map(({ sequence }) => sequence)).size === all.length, {
      error: "A sequence is listed twice",
    }),
});

/** Mails to a contact, one after the other. Durations are seconds. */
export type Sequence = z.output<typeof Sequence>;
/** Rules by which the platform handles mail by itself. */
export type MailRules = z.output<typeof MailRules>;

const SHIPPED = join(ROOT, "integrations", "mail", "mail.yaml");

/**
 * Reads the operator's rules and sequences, besides the shipped sequences; one of the operator's replaces a shipped one of
 * the same name.
 *
 * @throws {Problem} `NotConfigured`: the file is wrong, with each mistake and its line
 */
export function readMailRules(config: Config): MailRules {
  const own = settingsFilePath(config, "mail");
  const shipped = readRules(SHIPPED);
  if ((config.readsCopies || !config.settings.SEALOOP_MAIL) && !existsSync(own)) return shipped;
  if (!existsSync(own)) {
    throw new Problem("NotConfigured", `There is no ${own}, which SEALOOP_MAIL names`);
  }
  const { auto_replies, sequences } = readRules(own);
  const names = new Set(sequences.map(({ sequence }) => sequence));
  const others = shipped.sequences.filter(({ sequence }) => !names.has(sequence));
  return { auto_replies, sequences: [...sequences, ...others] };
}

function readRules(path: string): MailRules {
  const read = readYamlFile(path, MailRules);
  if ("value" in read) return read.value;
  const cause = new BadFile(read.mistakes, path);
  throw new Problem("NotConfigured", cause.message, { cause });
}
