import { fingerprintFault } from "../../../store/mod.ts";
import type { NewFinding } from "../../../store/incidents/mod.ts";
import type { ScanContext, Scanner, Weakness } from "./_scanner.ts";
import { dependencies } from "./dependencies.ts";
import { keys } from "./keys.ts";
import { openPorts } from "./open_ports.ts";
import { permissions } from "./permissions.ts";
import { settings } from "./settings.ts";

/** Detector of the findings of scans, in the store. */
export const SCAN_DETECTOR = "security_scan";

const SCANNERS = {
  settings,
  permissions,
  keys,
  ports: openPorts,
  dependencies,
} satisfies Record<string, Scanner>;
/** Names of the scanners. */
export const SCANNER_NAMES = Object.keys(SCANNERS) as ScannerName[];
/** Name of a scanner. */
export type ScannerName = keyof typeof SCANNERS;

/** Result of one scanner. */
export interface ScannerResult {
  readonly scanner: ScannerName;
  /** `failed`: it could not scan. */
  readonly state: "ok" | "not_configured" | "failed";
  /** Milliseconds. */
  readonly duration_ms: number;
  readonly findings: readonly NewFinding[];
}

/** Runs all scanners. One that fails does not hide the others. @param onEnd called for each as it ends */
export async function scanAll(
  context: ScanContext,
  onEnd: (scan: ScannerResult) => Promise<void> = () => Promise.resolve(),
): Promise<ScannerResult[]> {
  return await Promise.all(SCANNER_NAMES.map(async (scanner) => {
    const done = await scan(context, scanner);
    await onEnd(done);
    return done;
  }));
}

async function scan(context: ScanContext, scanner: ScannerName): Promise<ScannerResult> {
  const started = performance.now();
  const found = await SCANNERS[scanner](context).catch(() => "failed" as const);
  const duration_ms = Math.round((performance.now() - started) * 10) / 10;
  if (typeof found === "string") return { scanner, state: found, duration_ms, findings: [] };
  return {
    scanner,
    state: "ok",
    duration_ms,
    findings: await Promise.all(found.map((one) => toRecord(context, scanner, one))),
  };
}

/** Returns whether a weakness is still there; undefined: that scanner can't scan. */
export async function recheckWeakness(
  context: ScanContext,
  scanner: string,
  fingerprint: string,
): Promise<boolean | undefined> {
  if (!(SCANNER_NAMES as string[]).includes(scanner)) return undefined;
  const { state, findings } = await scan(context, scanner as ScannerName);
  return state === "ok" ? findings.some((one) => one.fingerprint === fingerprint) : undefined;
}

/** Codes of weaknesses that a runbook can repair. The others are for people. */
export const REPAIRABLE_WEAKNESSES: ReadonlySet<string> = new Set(["file_permissions"]);

async function toRecord(
  { store, config }: ScanContext,
  scanner: ScannerName,
  weakness: Weakness,
): Promise<NewFinding> {
  const { code, severity, summary, detail, remedy, which, path } = weakness;
  const fingerprint = await fingerprintFault(store, SCAN_DETECTOR, scanner, config.place, which);
  return {
    fingerprint,
    detector: SCAN_DETECTOR,
    service: config.place,
    host: config.place,
    place: config.place,
    kind: "platform",
    code,
    severity,
    root: fingerprint,
    summary,
    detail,
    target: { scanner, remedy, ...(path === undefined ? {} : { path }) },
  };
}
