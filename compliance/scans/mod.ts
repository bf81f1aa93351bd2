/**
 * Looks for what an attacker could use: in settings, files, keys, ports and dependencies of the platform and its host.
 *
 * ```ts
 * const scans = await scanAll({ config, store });
 * const { present } = await stillWeak({ config, store }, "file_permissions", fingerprint);
 * ```
 *
 * @module
 */
import { hostname } from "node:os";
import { fingerprintFault, type NewFinding } from "../../store/mod.ts";
import type { ScanContext, Scanner, Weakness } from "./_scanner.ts";
import { dependencies } from "./dependencies.ts";
import { keys } from "./keys.ts";
import { openPorts } from "./open_ports.ts";
import { permissions } from "./permissions.ts";
import { settings } from "./settings.ts";

export type { ScanContext, Weakness } from "./_scanner.ts";

/** What findings of scans are of, in the store. */
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

/** How one scanner's look went. */
export interface ScannerResult {
  /** Which one. */
  readonly scanner: ScannerName;
  /** `failed`: it could not look. */
  readonly state: "ok" | "not_configured" | "failed";
  /** Milliseconds. */
  readonly duration_ms: number;
  /** What it found, as it is noted. */
  readonly findings: readonly NewFinding[];
}

/** Looks with every scanner. One that fails hides no other. @param ended is told of each as it ends */
export async function scanAll(
  scanned: ScanContext,
  ended: (scan: ScannerResult) => Promise<void> = () => Promise.resolve(),
): Promise<ScannerResult[]> {
  return await Promise.all(SCANNER_NAMES.map(async (scanner) => {
    const done = await scan(scanned, scanner);
    await ended(done);
    return done;
  }));
}

async function scan(scanned: ScanContext, scanner: ScannerName): Promise<ScannerResult> {
  const started = performance.now();
  const look = await SCANNERS[scanner](scanned).catch(() => "failed" as const);
  const duration_ms = Math.round((performance.now() - started) * 10) / 10;
  if (typeof look === "string") return { scanner, state: look, duration_ms, findings: [] };
  return { scanner, state: "ok", duration_ms, findings: look.map((one) => noteOf(scanner, one)) };
}

/** Whether a weakness is still there; undefined where that scanner can't look. */
export async function recheckWeakness(
  scanned: ScanContext,
  scanner: string,
  fingerprint: string,
): Promise<boolean | undefined> {
  if (!(SCANNER_NAMES as string[]).includes(scanner)) return undefined;
  const { state, findings } = await scan(scanned, scanner as ScannerName);
  return state === "ok" ? findings.some((one) => one.fingerprint === fingerprint) : undefined;
}

/** Weaknesses that a runbook can mend; the others are for people. */
export const REPAIRABLE_WEAKNESSES: ReadonlySet<string> = new Set(["file_permissions"]);

function noteOf(scanner: ScannerName, weakness: Weakness): NewFinding {
  const { code, severity, summary, detail, remedy, which, path } = weakness;
  const fingerprint = fingerprintFault(SCAN_DETECTOR, scanner, hostname(), which);
  return {
    ...{
      fingerprint,
      detector: SCAN_DETECTOR,
      service: hostname(),
      host: hostname(),
      kind: "platform",
    },
    ...{ code, severity, root: fingerprint, summary, detail },
    target: { scanner, remedy, ...(path === undefined ? {} : { path }) },
  };
}
