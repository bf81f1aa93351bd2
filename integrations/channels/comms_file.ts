import { statSync } from "node:fs";
import { z } from "zod";
import type { Config } from "../../config.ts";
import { findTimeZone, similarNames } from "../../contract/mod.ts";
import { MESSAGE_KINDS, SEVERITIES } from "../../contract/domain/mod.ts";
import { BadFile, type Mistake, readYamlFile, settingsFilePath } from "../files/mod.ts";
import { Credential } from "./_credential_name.ts";
import { Email } from "./_email.ts";
import { Matrix } from "./_matrix.ts";
import { Ntfy } from "./_ntfy.ts";
import { Slack } from "./_slack.ts";
import { Teams } from "./_teams.ts";
import { Webhook } from "./_webhook.ts";

const KINDS = Object.keys(MESSAGE_KINDS);
const GROUPS = [
  ...new Set(KINDS.filter((kind) => kind.includes(".")).map((kind) => `${kind.split(".")[0]}.*`)),
];

const ChannelSettings = z.union([
  z.strictObject({ slack: Slack }),
  z.strictObject({ teams: Teams }),
  z.strictObject({ matrix: Matrix }),
  z.strictObject({ ntfy: Ntfy }),
  z.strictObject({ webhook: Webhook }),
  z.strictObject({ email: Email }),
]);
const Time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Expected a time of day, as "22:00"');
const Names = z.array(Credential).min(1);
const Severity = z.enum(SEVERITIES);
const Quiet = z.strictObject({
  from: Time,
  to: Time.describe("Before `from`: on the next day"),
  time_zone: z.string().refine((name) => findTimeZone(name) !== undefined, {
    error: "Expected the IANA name of a time zone, as Europe/Vienna",
  }),
  except: z.array(Severity).default(["critical"])
    .describe("Severities that are told at once all the same"),
});
const Rule = z.strictObject({
  name: z.string().min(1).max(100).describe("For people: why somebody is told"),
  kinds: z.array(z.enum([...KINDS, ...GROUPS])).min(1).optional()
    .describe("Kinds of messages, or groups such as incident.*; absent: all but said"),
  severities: z.array(Severity).min(1).optional()
    .describe("Only messages about something of these severities; absent: all messages"),
  services: z.array(z.string().min(1)).min(1).optional()
    .describe(
      "Only messages about these services, with * for any characters; absent: all messages",
    ),
  tell: Names.describe("Channels, in the order in which they are tried until one has the message"),
  quiet: Quiet.optional().describe(
    "Hours of the day in which nobody is told; it is told after them",
  ),
  escalate: z.strictObject({
    after_minutes: z.number().int().min(1).max(10_080),
    tell: Names,
  }).optional().describe("Who is told where nobody has acted in this time"),
});
const Section = z.strictObject({
  channels: z.record(Credential, ChannelSettings),
  rules: z.array(Rule).default([]),
});
const File = z.record(z.string().min(1).max(200).describe("A tenant"), Section);

/** A channel of the file: its kind, and the settings of that. */
export type ChannelEntry = z.output<typeof ChannelSettings>;

/** A channel that is told by HTTP. E-mail has a workflow of its own. */
export type HttpChannelEntry = Exclude<ChannelEntry, { readonly email: unknown }>;

/** A rule: who is told what. */
export type CommsRule = z.output<typeof Rule>;

/** The part of the file about one tenant. */
export type CommsSection = z.output<typeof Section>;

/** Sections by tenant. */
export type Comms = ReadonlyMap<string, CommsSection>;

/** The file is wrong; each message begins with the line. */
export class BadCommsFile extends BadFile {
  override readonly name = "BadCommsFile";
}

/** Returns the JSON Schema of the file, for editors. */
export function commsFileSchema(): Readonly<Record<string, unknown>> {
  return {
    title: "Who sealoop tells what, and over which channels",
    ...z.toJSONSchema(File, { io: "input" }),
  };
}

/** Returns the path of the file. */
export function commsFilePath(
  config: Pick<Config, "settings" | "dataDir" | "readsCopies">,
): string {
  return settingsFilePath(config, "comms");
}

/**
 * Reads the file. One that is missing tells nobody.
 *
 * @throws {BadCommsFile} names the lines, what is wrong, and what would be right
 */
export function readCommsFile(path: string): Comms {
  const read = readYamlFile(path, File, explain);
  const fail = (mistakes: readonly Mistake[]): never => {
    throw new BadCommsFile(mistakes, path);
  };
  if ("mistakes" in read) return fail(read.mistakes);
  const mistakes = Object.entries(read.value).flatMap(([tenant, section]) =>
    findUnknownChannels(section).map(([at, text]) => ({ ...read.placeOf([tenant, ...at]), text }))
  );
  return mistakes.length > 0 ? fail(mistakes) : new Map(Object.entries(read.value));
}

/**
 * Returns a function that gives the file as it is now. It is read again when it has changed; while it is wrong, what was
 * read before stays in force, and where nothing was, it gives undefined: nobody knows who is to be told.
 */
export function followComms(path: string): () => Comms | undefined {
  let stamp: string | undefined;
  let comms: Comms | undefined;
  return () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    const now = stats ? `${stats.mtimeMs}/${stats.size}/${stats.ino}` : "none";
    if (now === stamp) return comms;
    stamp = now;
    try {
      comms = readCommsFile(path);
    } catch (error) {
      if (!(error instanceof BadCommsFile)) throw error;
    }
    return comms;
  };
}

function findUnknownChannels({ channels, rules }: CommsSection): [PropertyKey[], string][] {
  const names = Object.keys(channels);
  return rules.flatMap(({ tell, escalate }, n) => {
    const lists = [[["tell"], tell], [["escalate", "tell"], escalate?.tell ?? []]] as const;
    return lists.flatMap(([path, list]) =>
      list.flatMap((name, i): [PropertyKey[], string][] => {
        if (names.includes(name)) return [];
        const [similar] = similarNames(name, names);
        const advice = similar
          ? `; did you mean ${similar}?`
          : `; there are ${names.join(", ") || "none"}`;
        return [[["rules", n, ...path, i], `there is no channel ${name}${advice}`]];
      })
    );
  });
}

function explain(issue: z.core.$ZodIssue): string | undefined {
  const field = issue.path.at(-1);
  if (issue.code === "invalid_union" && issue.path.at(-2) === "channels") {
    return "expected one of email, slack, teams, matrix, ntfy and webhook, with its fields";
  }
  if (issue.code === "invalid_value" && issue.path.at(-2) === "kinds") {
    return `there is no such kind; there are ${[...KINDS, ...GROUPS].join(", ")}`;
  }
  if (issue.code === "invalid_type" && field === "channels") return "expected channels by name";
  return undefined;
}
