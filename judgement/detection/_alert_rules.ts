/** Rules by which alerts of others are mapped to services and hosts. Labels select a rule, and are nothing else. */
import { z } from "zod";
import { PLATFORM_TENANT, SEVERITIES, type Severity } from "../../contract/domain/mod.ts";
import type { Alert } from "../../integrations/alerts/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";

/** Codes of faults of a host, as `host_resources` itself finds them. */
const HOST_CODES = [
  "disk_full",
  "disk_filling",
  "inodes_full",
  "inodes_filling",
  "memory_low",
  "load_high",
] as const;
/** A longer value of a label fits no rule. */
const MAX_VALUE = 500;

const LabelName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "Expected a label's name");
/** With one star at most, comparing takes a time that grows with the value alone. */
const Pattern = z.string().max(200).regex(/^[^*]*\*?[^*]*$/, "Expected one * at most");
const ServiceName = z.string().min(1).max(100);

/** One rule. */
export const AlertRule = z.strictObject({
  match: z.record(LabelName, Pattern)
    .refine((labels) => Object.keys(labels).length > 0, "Expected a label at least"),
  service: ServiceName.optional(),
  service_label: LabelName.optional(),
  tenant: z.string().min(1).max(200).default(PLATFORM_TENANT),
  code: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, "Expected small letters, digits and _")
    .default("firing"),
  host: z.string().min(1).max(255).optional(),
  path: z.string().regex(/^\//, "Expected an absolute path").optional(),
  severity: z.enum(SEVERITIES).optional(),
  ignore: z.literal(true).optional(),
}).check((ctx) => {
  const message = findContradiction(ctx.value);
  if (message) ctx.issues.push({ code: "custom", input: ctx.value, path: ["match"], message });
});

/** A rule, with its defaults. */
export type AlertRule = z.output<typeof AlertRule>;

/** The block `alerts` of the detectors' file. */
export const AlertSettings = z.strictObject({
  enabled: z.boolean().default(true).describe("false: alerts of others are not read"),
  rules: z.array(AlertRule).max(500).default([]).describe(
    "The first rule whose `match` fits an alert's labels maps it: to a `service`, to the known service that a label " +
      "names (`service_label`), or to a `host`, by one of the codes of `host_resources` and a `path` where it is a disk; " +
      "or `ignore: true`",
  ),
  resolve_seconds: z.number().int().min(10).max(600).default(300)
    .describe("How long an alert may take to be resolved after a repair"),
  silence: z.boolean().default(false)
    .describe("true: exactly these alerts are silenced during a repair, for 15 minutes at most"),
});

/** Where a rule maps an alert to. */
type AlertPlace =
  | { readonly kind: "service"; readonly service: string }
  | {
    readonly kind: "host";
    readonly host: string;
    readonly service: string | null;
    readonly path: string | undefined;
  };

/** An alert that a rule maps. */
export interface MappedAlert {
  readonly place: AlertPlace;
  readonly code: string;
  readonly severity: Severity;
}

/** Returns why a rule can't be meant like this; undefined: it can. */
function findContradiction(rule: z.output<typeof AlertRule>): string | undefined {
  const { service, service_label, host, path, code, ignore } = rule;
  const names = [service, service_label].filter((one) => one !== undefined).length;
  if (ignore) {
    return names > 0 || host !== undefined
      ? "ignore: true goes with no service and no host"
      : undefined;
  }
  if (names > 1) return "Expected either service or service_label";
  if (isHostCode(code)) {
    if (host === undefined) return `code ${code} is about a host: name it by host`;
    return needsPath(code) && path === undefined
      ? `code ${code} is about a disk: name its path`
      : undefined;
  }
  if (host !== undefined || path !== undefined) {
    return `host and path go with a code of hosts: ${HOST_CODES.join(", ")}`;
  }
  return names === 1 ? undefined : "Expected service, service_label, or ignore: true";
}

/** Returns whether a code is one of a host's resources. */
function isHostCode(code: string): boolean {
  return HOST_CODES.some((one) => one === code);
}

function needsPath(code: string): boolean {
  return code.startsWith("disk_") || code.startsWith("inodes_");
}

/** Returns the first rule that fits an alert; undefined: none does. */
export function findRule(
  { labels }: Pick<Alert, "labels">,
  rules: readonly AlertRule[],
): AlertRule | undefined {
  return rules.find(({ match }) =>
    Object.entries(match).every(([name, pattern]) => {
      const value = labelOf(labels, name);
      return value.length <= MAX_VALUE && matchesGlob(pattern, value);
    })
  );
}

/** Maps an alert by its rule. @returns undefined: the label that is to name a service has no value */
export function mapAlert(
  { labels }: Pick<Alert, "labels">,
  rule: AlertRule,
): MappedAlert | undefined {
  const { service, service_label, host, path, code } = rule;
  const name = service_label === undefined ? service : labelOf(labels, service_label);
  const severity = rule.severity ?? severityOf(labelOf(labels, "severity"));
  if (host !== undefined) {
    const place = { kind: "host", host, service: name || null, path } as const;
    return { place, code, severity };
  }
  if (!name) return undefined;
  return {
    place: { kind: "service", service: name },
    code: code === "slow" ? code : `alert_${code}`,
    severity,
  };
}

/** Returns a label's value, as Prometheus sees it: one that is absent is empty. */
export function labelOf(labels: Alert["labels"], name: string): string {
  return Object.hasOwn(labels, name) ? labels[name]! : "";
}

/** Reads the label `severity` as most rules of alerts use it. */
function severityOf(label: string): Severity {
  if (/^(critical|page|emergency)$/i.test(label)) return "critical";
  if (/^(warning|warn)$/i.test(label)) return "medium";
  return /^(info|low|none)$/i.test(label) ? "low" : "high";
}
