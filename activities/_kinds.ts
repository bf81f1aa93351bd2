import type { Finding } from "../domain/mod.ts";
import type { Category } from "../engine/mod.ts";

/** Fields by the codes of detectors that leave no doubt, each of the kind of check that gives it. */
const BY_CODE: Readonly<Partial<Record<Finding["check"], Readonly<Record<string, Category>>>>> = {
  host: {
    ...{ disk_full: "storage", disk_filling: "storage" },
    ...{ inodes_full: "storage", inodes_filling: "storage" },
    ...{ memory_low: "compute", load_high: "compute" },
  },
  log: {
    ...{ brute_force: "security", invalid_users: "security", break_in_attempt: "security" },
    ...{ port_scan: "security", login_after_failures: "security" },
  },
  certificate: {
    ...{ expired: "certificate", not_yet_valid: "certificate", expires_soon: "certificate" },
    ...{ untrusted: "certificate", wrong_name: "certificate" },
  },
  platform: { slow: "database", connections_exhausted: "database" },
};

/** Fields of services by their type, for where all that is known is that one does not answer as it should. */
const BY_TYPE: Readonly<Record<string, Category>> = {
  ...{ web: "application", api: "application", database: "database", queue: "messaging" },
  ...{ broker: "messaging", dns: "dns", test: "application" },
};

const PROBES: ReadonlySet<string> = new Set<Finding["check"]>(["http", "tcp", "command"]);

/** The field in which a fault lies, by what measured it; undefined: its code does not say. */
export function fieldOf(
  { check, code }: Pick<Finding, "check" | "code">,
  type: string | undefined,
): Category | undefined {
  return PROBES.has(check) && type !== undefined ? BY_TYPE[type] : BY_CODE[check]?.[code];
}
