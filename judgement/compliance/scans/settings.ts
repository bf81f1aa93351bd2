import type { Scanner, Weakness } from "./_scanner.ts";

const LOCAL_HOST = /^(localhost|127\.|\[?::1)/;
/** Networks with shorter prefixes are too wide. */
const MIN_PREFIX_BITS = 16;
const MAX_TOOL_CALLS = 600;

/** Finds settings that are weaker than they should be in production. */
export const settings: Scanner = ({ config: { settings: given } }) => {
  const found: Weakness[] = [];
  const report = (
    setting: keyof typeof given,
    severity: Weakness["severity"],
    summary: string,
    remedy: string,
  ) =>
    found.push({
      code: "weak_setting",
      severity,
      summary,
      remedy,
      which: setting,
      detail: { setting },
    });
  const url = given.SEALOOP_DATABASE_WORKER_URL; // of the process that scans
  const database = url && new URL(url);
  if (database && !LOCAL_HOST.test(database.hostname) && !/verify-full/.test(database.search)) {
    report(
      "SEALOOP_DATABASE_WORKER_URL",
      "high",
      "The database is on another host without sslmode=verify-full",
      "Add sslmode=verify-full to the connection strings of all roles, and sslrootcert with its authority where that is not a public one",
    );
  }
  const wide = given.SEALOOP_OUTBOUND_ALLOW
    .filter((net) => Number(net.split("/")[1] ?? 128) < MIN_PREFIX_BITS);
  if (wide.length > 0) {
    report(
      "SEALOOP_OUTBOUND_ALLOW",
      "medium",
      `Webhooks and runbooks may reach the whole network ${wide.join(" and ")}`,
      `Name single hosts in place of ${
        wide.join(" and ")
      }, or networks of /${MIN_PREFIX_BITS} and longer`,
    );
  }
  if (given.SEALOOP_TRUSTED_HOPS > 0 && !given.SEALOOP_TLS_PROXY) {
    report(
      "SEALOOP_TRUSTED_HOPS",
      "medium",
      "X-Forwarded-For is trusted, but no proxy is declared",
      "Set SEALOOP_TLS_PROXY where there is a proxy, else SEALOOP_TRUSTED_HOPS to 0",
    );
  }
  if (given.SEALOOP_OTS_CALENDARS.length === 0) {
    report(
      "SEALOOP_OTS_CALENDARS",
      "low",
      "Receipts are not anchored in Bitcoin",
      "Name calendars of OpenTimestamps in SEALOOP_OTS_CALENDARS, or remove the setting for the default ones",
    );
  }
  if (given.SEALOOP_LIMIT_TOOLS > MAX_TOOL_CALLS) {
    report(
      "SEALOOP_LIMIT_TOOLS",
      "low",
      `A key may call ${given.SEALOOP_LIMIT_TOOLS} tools a minute`,
      `Set SEALOOP_LIMIT_TOOLS to ${MAX_TOOL_CALLS} or less; the default is 60`,
    );
  }
  return Promise.resolve(found);
};
