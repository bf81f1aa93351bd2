import { z } from "zod";
import { CATEGORIES, FINDING_CHECKS, WORKFLOW } from "../../contract/domain/mod.ts";
import { PROOFS } from "./_proofs.ts";
import { Duration, Size } from "./_units.ts";

/** Facts of observations that parameters of runbooks may have. */
export const OBSERVED_FACTS = [
  "own_port",
  "full_folder",
  "clock_offset",
  "dependency",
  "dependency_address",
  "process",
] as const;
/** Facts of observations, as far as they are known. */
export type ObservedFacts = Readonly<
  Partial<Record<typeof OBSERVED_FACTS[number], string | number>>
>;

/** Workflows that a runbook may start: they repair the platform's own parts, and may run at any time. */
const WORKFLOWS = [
  WORKFLOW.itsmSweep,
  WORKFLOW.reconcileRuns,
  WORKFLOW.scrubLedger,
  WORKFLOW.anchorReceipts,
  WORKFLOW.ledgerSequencer,
] as const;

const Name = z.string().regex(/^[a-z][a-z0-9-]{1,62}$/, "Expected lower-case letters, digits, -");
const Sentence = z.string().min(8).max(600);
const Glob = z.string().min(1).max(200);
const Argv = z.array(z.string().min(1)).min(1).max(40);
/** A process as it was found, which the resolved step has: people approve exactly this. */
const Holder = z.strictObject({
  pid: z.number().int(),
  start_time: z.string(),
  program: z.string(),
  command: z.string(),
  since: z.string(),
  startedBy: z.enum(["leftover", "service", "other"]),
  service: z.string().optional(),
});
const Percent = z.number().int().min(1).max(100);

/** A look at the world, to verify a step or to wait for something. It changes nothing. */
const Look = z.union([
  z.strictObject({ service: z.literal("healthy") })
    .describe("The service's own check passes, twice in a row"),
  z.strictObject({ http: z.string() }).describe("GET answers below 400"),
  z.strictObject({ tcp: z.string() }).describe("host:port accepts a connection"),
  z.strictObject({ command: Argv }).describe("A command of the allow-list ends with 0"),
  z.strictObject({ disk: z.string(), below: Percent, of_bytes: z.number().optional() })
    .describe(
      "The file system of this path is used by less than so many percent (of_bytes: the folder's own bound)",
    ),
  z.strictObject({ inodes: z.string(), below: Percent })
    .describe("… and its inodes"),
  z.strictObject({ memory_below: Percent }).describe("Memory that is in use, percent"),
  z.strictObject({ swap_below: Percent }).describe("Swap that is in use, percent"),
  z.strictObject({ zombies_below: z.number().int().min(1) })
    .describe("Processes of this host that have ended and were not collected"),
]);

const Restart = z.union([
  z.literal("service").describe("As the services file says it for this service"),
  z.strictObject({ unit: z.string() }).describe("A systemd unit of this host"),
  z.strictObject({ container: z.string() }).describe("A container of this host's Docker"),
]);
const Command = z.strictObject({
  argv: Argv.describe("Program and arguments; never a shell line. Must be on the allow-list"),
  user: z.string().regex(/^[a-z_][a-z0-9_-]*$/).optional().describe("Who runs it"),
  room_in: z.string().optional().describe(
    "Folder in which it makes room: where another disk is full, or a folder elsewhere, the runbook doesn't fit",
  ),
  expect: z.array(z.number().int().min(0).max(255)).default([0]).describe("Exit codes of success"),
});
const Http = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("POST"),
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.unknown().optional().describe("Sent as JSON"),
  expect: z.array(z.number().int().min(100).max(599)).min(1).default([200, 201, 202, 204]),
  idempotent: z.boolean().default(false).describe(
    "The server does it once for one Idempotency-Key, so it may be sent again after a crash",
  ),
});
const Clean = z.strictObject({
  folders: z.union([z.string(), z.array(z.string()).min(1)])
    .describe("Absolute; nothing outside of them is ever touched"),
  match: z.array(Glob).min(1).describe("Names of files, * and ? standing for what they always do"),
  except: z.array(Glob).default([]),
  older_than: Duration.describe("Since the last change"),
  until_below: Percent.optional()
    .describe("Oldest first, until the file system is used by less than so many percent"),
  kind: z.enum(["bytes", "inodes"]).default("bytes").describe("What `until_below` counts"),
  proof: z.enum(PROOFS).optional().describe(
    "Only files that are provably of this kind: rotated_log, the log it was rotated from is there and newer; old_deploy, " +
      "a link leads to a newer deploy beside it, two others stay, and no process runs in it",
  ),
});

const ScriptName = z.string().min(2).max(63);
/** A script as it was released, which the resolved step has: people approve exactly this. */
const ReleasedScript = z.strictObject({
  id: ScriptName,
  version: z.number().int(),
  sha256: z.string(),
  parameters: z.record(z.string(), z.string()),
  argv: z.array(z.string()),
  user: z.string(),
});

/** The kinds of acts. A step has exactly one. */
const ACTS = {
  restart: Restart.optional(),
  http: Http.optional(),
  look: Command.omit({ room_in: true, expect: true }).optional().describe(
    "Runs a command that only looks, such as a thread dump: what it prints is an observation, whatever its end",
  ),
  command: Command.optional(),
  clean: Clean.optional().describe(
    "Moves old files aside, where they can be put back from until they are purged",
  ),
  purge: z.strictObject({ step: Name }).optional()
    .describe("Deletes what that clean step moved aside, where it still takes room on that disk"),
  wait: z.strictObject({ for: Look.optional(), at_least: Duration.optional() }).optional(),
  workflow: z.strictObject({ type: z.enum(WORKFLOWS) }).optional(),
  notify: z.strictObject({ message: Sentence }).optional(),
  stop: z.strictObject({
    holder_of: z.string().describe("TCP port of this host"),
    programs: z.union([z.string(), z.array(Glob)]).default([])
      .describe("Programs that may be stopped though sealoop has not started them"),
  }).optional().describe(
    "Stops the process that holds a port, if sealoop has started it and no service runs by it, or if it is one of `programs`",
  ),
  descriptors: z.strictObject({ at_least: z.string() }).optional().describe(
    "Lets the process that sealoop runs for the service open so many files, within the hard limit of the system",
  ),
  join: z.strictObject({ service: z.string() }).optional()
    .describe(
      "Notes in this ticket and in the open ticket of that service that they belong together",
    ),
  script: z.strictObject({ id: ScriptName }).optional()
    .describe("A script of the catalogue, which the device that the finding is about runs"),
} as const;

const KINDS = Object.keys(ACTS) as StepKind[];
/** A kind of step. */
export type StepKind = keyof typeof ACTS;

const Bounds = z.strictObject({
  within: Duration.describe("Longest that it may take"),
  files: z.number().int().min(1).optional().describe("Most files that a clean step may move"),
  bytes: Size.optional().describe("Most that it may move"),
  ask_above: z.strictObject({
    files: z.number().int().min(1).optional(),
    bytes: Size.optional(),
  }).optional().describe("What it may move without asking a person"),
  ask: Sentence.optional().describe("Why a person is always asked before this step"),
  cpu: Duration.optional().describe("Most processor time of a command"),
  memory: Size.optional().describe("Most address space of a command"),
  file_size: Size.optional().describe("Largest file that a command may write"),
});

const Undo = z.union([
  z.strictObject({ none: Sentence }).describe("Why it has no opposite"),
  z.strictObject({ put_back: z.literal(true) }).describe("Moves back what was moved aside"),
  z.strictObject({ command: Command }),
  z.strictObject({ http: Http }),
  z.strictObject({ restart: Restart }),
  z.strictObject({ script: z.literal("opposite") })
    .describe("The script that the catalogue names as the opposite of the one that was run"),
]);

const Step = z.strictObject({
  step: Name,
  does: Sentence,
  ...ACTS,
  bounds: Bounds,
  verify: z.strictObject({ look: Look, within: Duration.default("15s") }).optional()
    .describe("How to see that it worked; without it, that it ended as expected is enough"),
  undo: Undo,
  never: z.array(Sentence).min(1).describe("What this step must never do"),
});

const Parameter = z.strictObject({
  kind: z.enum(["path", "paths", "name", "names", "unit", "number", "url", "address", "command"]),
  about: Sentence,
  default: z.union([z.string(), z.number(), z.array(z.string())]).optional()
    .describe("Without one, the runbook fits only services that give a value"),
  from: z.enum(["bounded_folder", "found_file", "device_remedy", ...OBSERVED_FACTS]).optional()
    .describe(
      "Where the service gives no value: the folder whose own bound the finding is about, the file that it names, the " +
        "script that mends a device; or what was observed: the service's own port, the folder whose file system is full, " +
        "by how many seconds the clock is off, the dependency that fails and its address, the id of the service's process",
    ),
});

const Match = z.strictObject({
  categories: z.array(z.enum(CATEGORIES)).min(1).optional(),
  services: z.array(Glob).min(1).optional().describe("Names of services"),
  types: z.array(Glob).min(1).optional().describe("Types of services"),
  findings: z.array(
    z.strictObject({
      check: z.enum([...FINDING_CHECKS, "report"]),
      codes: z.array(Glob).min(1).default(["*"]),
    }),
  ).min(1).optional(),
  words: z.array(z.string().min(2).max(100)).min(1).optional()
    .describe(
      "One of them is in the report, or in what the detector says; upper and lower case alike",
    ),
  causes: z.array(Glob).min(1).optional()
    .describe("The cause that was observed is one of these; * and ? stand for any characters"),
});

const Unfit = z.strictObject({
  causes: z.array(Glob).default([]).describe("Causes that were observed"),
  codes: z.array(Glob).default([]).describe("Codes of the failed check"),
});

/** A runbook's file. */
export const RunbookFile = z.strictObject({
  runbook: Name,
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "Expected a version like 1.0.0"),
  title: Sentence,
  about: z.string().min(20).max(4_000),
  match: Match.describe(
    "All that are given must fit; the runbook that fits most specifically wins",
  ),
  unfit: Unfit.default({ causes: [], codes: [] }).describe(
    "It does not help against any of these, however else it fits",
  ),
  order: z.number().int().min(1).max(99).default(50)
    .describe(
      "Of runbooks that fit equally, the lower one is first: what costs less, and undoes better",
    ),
  repairs_flapping: z.boolean().default(false).describe(
    "It may act on a service that goes up and down while the service is up; without it, people look at such a service",
  ),
  needs: z.array(z.enum(["restart", "check"])).default([])
    .describe("What the services file must say of the service"),
  parameters: z.record(z.string().regex(/^[a-z][a-z_]{0,30}$/), Parameter).default({}),
  steps: z.array(Step).min(1).max(20),
});

/** A command that runbooks may run. */
const AllowedCommand = z.strictObject({
  name: Name,
  about: Sentence,
  argv: Argv.describe("Program, then one entry an argument: itself, or /a pattern of all of it/"),
  more: z.string().optional().describe("Pattern that each further argument fits"),
  users: z.array(z.string()).default([]).describe("Who may run it besides the worker's own user"),
});

/** The allow-list's file. */
export const CommandsFile = z.strictObject({ commands: z.array(AllowedCommand) });

/** A runbook, as in its file. */
export type RunbookDocument = z.output<typeof RunbookFile>;
/** A step, as in the file. */
export type StepDocument = z.output<typeof Step>;
/** A parameter, as in the file. */
export type ParameterDocument = z.output<typeof Parameter>;
/** A look at the world. */
export type Look = z.output<typeof Look>;
/** An entry of the allow-list. */
export type AllowedCommand = z.output<typeof AllowedCommand>;
/** The target of a restart step. */
export type RestartTarget = z.output<typeof Restart>;
/** The command of a command step. */
export type CommandAct = z.output<typeof Command>;
/** A script with its arguments, as people approve it. */
export type ReleasedScript = z.output<typeof ReleasedScript>;
/** The request of an http step. */
export type HttpAct = z.output<typeof Http>;

/** A step with every parameter filled in, as it is approved and performed. */
export const ResolvedStep = Step.extend({
  kind: z.enum(KINDS as [StepKind, ...StepKind[]]),
  clean: Clean.extend({
    folders: z.array(z.string()).min(1),
    quota: z.strictObject({ path: z.string(), bytes: z.number() }).optional()
      .describe("The folder whose bound is to be kept, in place of a whole file system"),
  }).optional(),
  script: z.union([ReleasedScript, z.strictObject({ id: ScriptName })]).optional(),
  stop: z.strictObject({
    holder_of: z.string(),
    programs: z.array(z.string()),
    holder: Holder.optional().describe("Who holds it"),
  }).optional(),
  runs: z.strictObject({ argv: Argv, cwd: z.string().optional() }).optional()
    .describe("What a restart as the services file says it runs, for those who approve it"),
  undo: z.union([...Undo.options, z.strictObject({ script: ReleasedScript })]),
});
/** A step with every parameter filled in. */
export type ResolvedStep = z.output<typeof ResolvedStep>;

/** Returns the kind of a step; undefined: it has no act, or several. */
export function kindOfStep(step: Partial<Record<StepKind, unknown>>): StepKind | undefined {
  const kinds = KINDS.filter((kind) => step[kind] !== undefined);
  return kinds.length === 1 ? kinds[0] : undefined;
}
