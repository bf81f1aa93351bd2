import { z } from "zod";
import { readYamlFile } from "../_yaml_file.ts";

const percent = (fallback: number) => z.number().min(1).max(100).default(fallback);
const count = (fallback: number) => z.number().int().min(1).max(1_000_000).default(fallback);
const seconds = (fallback: number) => z.number().min(1).max(30 * 86_400).default(fallback);
const on = z.boolean().default(true);
const Name = z.string().min(1).max(100);

const Pace = {
  timeout_ms: z.number().int().min(10).max(5_000).optional(),
  slow_ms: z.number().int().min(1).max(5_000).optional(),
};
const ServiceProbes = z.strictObject({
  enabled: on,
  timeout_ms: z.number().int().min(10).max(5_000).default(2_000),
  slow_ms: z.number().int().min(1).max(5_000).default(1_500),
  slow_looks: count(3),
  failures: count(1),
  flapping: z.strictObject({
    looks: z.number().int().min(5).max(60).default(20),
    begins: z.number().min(0.05).max(1).default(0.3),
    ends: z.number().min(0).max(1).default(0.1),
  }).refine(({ begins, ends }) => ends < begins, "ends must be below begins").prefault({}),
  services: z.record(Name, z.strictObject(Pace)).default({}),
});

const Disk = z.strictObject({
  path: z.string().startsWith("/", "Expected an absolute path"),
  service: Name.optional(),
  max_bytes: z.number().int().min(1).optional(),
  filling_percent: z.number().min(1).max(100).optional(),
  full_percent: z.number().min(1).max(100).optional(),
});
const HostResources = z.strictObject({
  enabled: on,
  disks: z.array(Disk).default([]),
  every_disk: on,
  filling_percent: percent(90),
  full_percent: percent(95),
  memory_percent: percent(95),
  load_per_core: z.number().min(0.1).max(1_000).default(4),
});

const LogFile = z.strictObject({
  path: z.string().startsWith("/", "Expected an absolute path"),
  service: Name.optional(),
  error_rate: on,
  attacks: on,
  new_templates: z.enum(["errors", "all", "none"]).default("errors"),
  optional: z.boolean().default(false),
});
const Logs = z.strictObject({
  enabled: on,
  files: z.array(LogFile).default([
    ...["/var/log/auth.log", "/var/log/secure"].map((path) => ({
      path,
      error_rate: false,
      attacks: true,
      new_templates: "none" as const,
      optional: true,
    })),
  ]),
  window_seconds: seconds(600),
  failures: count(5),
  invalid_users: count(3),
  sources: count(10),
  errors: count(10),
  times_usual: z.number().min(1).max(1_000).default(3),
  learn_lines: count(500),
});

const Certificate = z.strictObject({
  endpoint: z.string().regex(/^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i, "Expected host:port")
    .optional(),
  file: z.string().startsWith("/", "Expected an absolute path").optional(),
  name: Name.optional(),
  service: Name.optional(),
  ca: z.string().startsWith("/", "Expected an absolute path").optional(),
  self_signed: z.boolean().default(false),
}).refine(({ endpoint, file }) => (endpoint === undefined) !== (file === undefined), {
  message: "Expected either endpoint: host:port or file: path",
});
const Certificates = z.strictObject({
  enabled: on,
  watch: z.array(Certificate).default([]),
  services: on,
  soon_days: z.number().min(0).max(3650).default(21),
  urgent_days: z.number().min(0).max(3650).default(3),
  timeout_ms: z.number().int().min(10).max(5_000).default(3_000),
});

const Platform = z.strictObject({
  enabled: on,
  backlog: count(1_000),
  backlog_seconds: seconds(60),
  failed_workflows: count(5),
  failed_within_seconds: seconds(3_600),
  outbox_seconds: seconds(60),
  database_ms: z.number().min(1).max(10_000).default(1_000),
  connections_percent: percent(90),
});

const File = z.strictObject({
  service_probes: ServiceProbes.prefault({}),
  host_resources: HostResources.prefault({}),
  logs: Logs.prefault({}),
  certificates: Certificates.prefault({}),
  platform: Platform.prefault({}),
});

/** The detectors' settings, one block each: everything has a value. */
export type DetectorSettings = z.output<typeof File>;

/** The detectors' file is wrong; each line of the message begins with the line of the file. */
export class BadDetectorsFile extends Error {
  override readonly name = "BadDetectorsFile";
}

/**
 * Reads the file of the detectors' settings.
 *
 * @param path a file that is not there gives every default
 * @throws {BadDetectorsFile} says the line, what was wrong, and what would be right
 */
export function readDetectorsFile(path: string): DetectorSettings {
  const read = readYamlFile(path, File, explain);
  if ("value" in read) return read.value;
  const text = read.mistakes.map(({ line, text }) => `  line ${line}: ${text}`).join("\n");
  throw new BadDetectorsFile(`Cannot use ${path}:\n${text}`);
}

const SHAPES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "": File.shape,
  service_probes: ServiceProbes.shape,
  host_resources: HostResources.shape,
  logs: Logs.shape,
  certificates: Certificates.shape,
  platform: Platform.shape,
  "service_probes.services": Pace,
  "host_resources.disks": Disk.shape,
  "logs.files": LogFile.shape,
  "certificates.watch": Certificate.shape,
};

function explain(issue: z.core.$ZodIssue): string {
  if (issue.code !== "unrecognized_keys") return issue.message;
  const place = issue.path.slice(0, 2).join(".");
  const keys = Object.keys(SHAPES[place] ?? SHAPES[String(issue.path[0] ?? "")] ?? {});
  return `unknown key; there are ${keys.join(", ")}`;
}
