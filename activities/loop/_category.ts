import type { Category, Finding } from "../../domain/mod.ts";

/** Categories by the codes of a finding, where a code allows only one. */
const CATEGORY_OF_CODE: Readonly<
  Partial<Record<Finding["check"], Readonly<Record<string, Category>>>>
> = {
  host: {
    disk_full: "storage",
    disk_filling: "storage",
    inodes_full: "storage",
    inodes_filling: "storage",
    memory_low: "compute",
    load_high: "compute",
  },
  log: {
    brute_force: "security",
    invalid_users: "security",
    break_in_attempt: "security",
    port_scan: "security",
    login_after_failures: "security",
  },
  certificate: {
    expired: "certificate",
    not_yet_valid: "certificate",
    expires_soon: "certificate",
    untrusted: "certificate",
    wrong_name: "certificate",
  },
  platform: { slow: "database", connections_exhausted: "database" },
};

/** Categories by the type of a service that fails its health check. */
const CATEGORY_OF_SERVICE: Readonly<Record<string, Category>> = {
  web: "application",
  api: "application",
  database: "database",
  queue: "messaging",
  broker: "messaging",
  dns: "dns",
  test: "application",
};

const HEALTH_CHECKS: ReadonlySet<string> = new Set<Finding["check"]>(["http", "tcp", "command"]);

/** Returns the category of a fault by how it was measured; undefined if that does not tell. */
export function categoryOf(
  { check, code }: Pick<Finding, "check" | "code">,
  serviceType: string | undefined,
): Category | undefined {
  return HEALTH_CHECKS.has(check) && serviceType !== undefined
    ? CATEGORY_OF_SERVICE[serviceType]
    : CATEGORY_OF_CODE[check]?.[code];
}
