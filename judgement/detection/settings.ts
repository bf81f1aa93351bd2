import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { BadFile, readYaml } from "../../integrations/files/mod.ts";
import { AlertSettings } from "./_alert_rules.ts";

const percent = (fallback: number) => z.number().min(1).max(100).default(fallback);
const count = (fallback: number) => z.number().int().min(1).max(1_000_000).default(fallback);
const seconds = (fallback: number) => z.number().min(1).max(30 * 86_400).default(fallback);
const milliseconds = z.number().int().min(1).max(5_000);
const on = z.boolean().default(true).describe("false: this detector does not look");
const Name = z.string().min(1).max(100);
const Path = z.string().regex(/^\//, "Expected an absolute path");

const Pace = {
  timeout_ms: milliseconds.optional(),
  slow_ms: milliseconds.optional(),
};
const Flapping = z.strictObject({
  looks: z.number().int().min(5).max(60).default(20).describe("Probes that are remembered"),
  begins: z.number().min(0.05).max(1).default(0.3)
    .describe("Share of changes between up and down among them from which on it flaps"),
  ends: z.number().min(0).max(1).default(0.1).describe("… and down to which it is steady again"),
}).refine(({ begins, ends }) => ends < begins, "ends must be below begins");
const ServiceProbes = z.strictObject({
  enabled: on,
  timeout_ms: milliseconds.default(2_000).describe("Longest that a probe may take"),
  slow_ms: milliseconds.default(1_500).describe("A probe that passes but takes longer is slow"),
  slow_looks: count(3).describe("Slow probes in a row that are a finding"),
  failures: count(1)
    .describe("Failed probes in a row that are a finding; the platform's own parts need two"),
  flapping: Flapping.prefault({}),
  services: z.record(Name, z.strictObject(Pace)).default({})
    .describe("`timeout_ms` and `slow_ms` of single services, by their names"),
});

const Disk = z.strictObject({
  path: Path,
  service: Name.optional(),
  max_bytes: z.number().int().min(1).optional(),
  filling_percent: z.number().min(1).max(100).optional(),
  full_percent: z.number().min(1).max(100).optional(),
});
const HostResources = z.strictObject({
  enabled: on,
  disks: z.array(Disk).default([]).describe(
    "File systems by a path on them, with bounds of their own and the `service` that needs them; with `max_bytes`, a " +
      "folder against that bound",
  ),
  every_disk: z.boolean().default(true).describe("Whether every disk of the host is looked at"),
  filling_percent: percent(90).describe("Used space, or inodes, from which on a disk fills up"),
  full_percent: percent(95).describe("… and is full"),
  memory_percent: percent(95).describe("Memory in use that is a finding"),
  load_per_core: z.number().min(0.1).max(1_000).default(8)
    .describe("Load for each core, for at least fifteen minutes"),
});

const LogFile = z.strictObject({
  path: Path,
  service: Name.optional(),
  error_rate: z.boolean().default(true),
  attacks: z.boolean().default(true),
  new_templates: z.enum(["errors", "all", "none"]).default("errors"),
  optional: z.boolean().default(false),
});
const AUTHENTICATION = ["/var/log/auth.log", "/var/log/secure"].map((path) => ({
  path,
  error_rate: false,
  attacks: true,
  new_templates: "none" as const,
  optional: true,
}));
const Logs = z.strictObject({
  enabled: on,
  files: z.array(LogFile).default(AUTHENTICATION).describe(
    "Files by their `path` (`*` for any part of a name), what to look for in each, and the `service` that writes it; " +
      "one that is `optional` may be missing. Default: the host's authentication log, for attacks alone",
  ),
  window_seconds: seconds(600)
    .describe("Time within which attempts are counted, and for which a finding lasts"),
  failures: count(5).describe("Failed logins of one source that are an attack"),
  invalid_users: count(3).describe("Users that do not exist, tried by one source"),
  sources: count(10).describe("Sources that try users that do not exist, within a day"),
  ports: count(20).describe("Ports of one source that a firewall blocked"),
  errors: count(10).describe("Errors in a minute below which there is no peak"),
  times_usual: z.number().min(1).max(1_000).default(3)
    .describe("How many times as many errors as in a bad minute before are a peak"),
  learn_lines: count(500).describe(
    "Lines of a log that only teach: before, every kind of line is new",
  ),
});

const Certificate = z.strictObject({
  endpoint: z.string().regex(/^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i, "Expected host:port")
    .optional(),
  file: Path.optional(),
  name: Name.optional(),
  service: Name.optional(),
  ca: Path.optional(),
  self_signed: z.boolean().default(false),
}).refine(({ endpoint, file }) => (endpoint === undefined) !== (file === undefined), {
  message: "Expected either endpoint: host:port or file: path",
});
const Certificates = z.strictObject({
  enabled: on,
  watch: z.array(Certificate).default([]).describe(
    "Certificates at an `endpoint` (host:port) or in a PEM `file`; the `name` that it must be issued to, the " +
      "`service` that needs it, a file of other authorities (`ca`), or that it may be `self_signed`",
  ),
  services: z.boolean().default(true)
    .describe("Whether services that are probed over HTTPS are looked at, too"),
  soon_days: z.number().min(0).max(3650).default(21)
    .describe("Days before the end, or a third of its life where that is less"),
  urgent_days: z.number().min(0).max(3650).default(3).describe("… from which on it is urgent"),
  timeout_ms: milliseconds.default(3_000).describe("Longest that an endpoint may take"),
});

const Platform = z.strictObject({
  enabled: on,
  backlog: count(1_000).describe("Tasks that wait in one task queue"),
  backlog_seconds: seconds(60).describe("… or for how long the oldest of them waits"),
  failed_workflows: count(5).describe("Workflows that have failed or timed out"),
  failed_within_seconds: seconds(3_600).describe("… within this time"),
  outbox_seconds: seconds(60).describe("How long a receipt waits to be sealed"),
  database_ms: z.number().min(1).max(10_000).default(1_000)
    .describe("How long the database may take to report its state"),
  connections_percent: percent(90).describe("Connections of the database in use"),
});

const DETECTORS_FILE = z.strictObject({
  service_probes: ServiceProbes.prefault({}),
  host_resources: HostResources.prefault({}),
  logs: Logs.prefault({}),
  certificates: Certificates.prefault({}),
  platform: Platform.prefault({}),
  alerts: AlertSettings.prefault({}),
});

/** Settings of the detectors, one block each, and of the alerts that two of them read. All have a value. */
export type DetectorSettings = z.output<typeof DETECTORS_FILE>;

/** The detectors' file is wrong; each mistake begins with its line. */
export class BadDetectorsFile extends BadFile {
  override readonly name = "BadDetectorsFile";
}

/** Cache of the file, which every sweep reads and which hardly ever changes. */
let last: { path: string; text: string; settings: DetectorSettings } | undefined;

/**
 * Reads the file of the detectors' settings.
 *
 * @param path a missing file has all defaults
 * @throws {BadDetectorsFile} names the line, what is wrong, and what would be right
 */
export function readDetectorsFile(path: string): DetectorSettings {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (last?.path === path && last.text === text) return last.settings;
  const read = readYaml(text, DETECTORS_FILE);
  if ("value" in read) {
    last = { path, text, settings: read.value };
    return read.value;
  }
  throw new BadDetectorsFile(read.mistakes, path);
}

/**
 * Returns the settings that are in force: those of the file or, while it is wrong, those that it had before. Where this
 * process has read no others from it, all defaults are.
 *
 * @returns with the problem while the file is wrong
 */
export function getDetectorSettings(
  path: string,
): { readonly settings: DetectorSettings; readonly problem?: BadDetectorsFile } {
  try {
    return { settings: readDetectorsFile(path) };
  } catch (error) {
    if (!(error instanceof BadDetectorsFile)) throw error;
    const settings = last?.path === path ? last.settings : DETECTORS_FILE.parse({});
    return { settings, problem: error };
  }
}

/** Returns the JSON Schema of the file, for editors. */
export function detectorsFileSchema(): Record<string, unknown> {
  return {
    title: "The detectors' file of sealoop",
    ...z.toJSONSchema(DETECTORS_FILE, { io: "input" }),
  };
}
