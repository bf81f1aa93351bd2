import type { Scanner, Weakness } from "./_scanner.ts";

const LOCAL = /^(localhost|127\.|\[?::1)/;
const WIDE_BITS = 16;
const MOST_TOOL_CALLS = 600;

/** Settings that are allowed, but weaker than they should be in production. */
export const settings: Scanner = ({ config: { settings: given } }) => {
  const found: Weakness[] = [];
  const say = (
    setting: keyof typeof given,
    severity: Weakness["severity"],
    summary: string,
    remedy: string,
  ) =>
    found.push({
      ...{ code: "weak_setting", severity, summary, remedy, which: setting },
      detail: { setting },
    });
  const database = given.DATABASE_URL && new URL(given.DATABASE_URL);
  if (database && !LOCAL.test(database.hostname) && !/verify-full/.test(database.search)) {
    say(
      "DATABASE_URL",
      "high",
      "The database is on another host without sslmode=verify-full",
      "Add sslmode=verify-full to DATABASE_URL, and its authority with sslrootcert where that is not a public one",
    );
  }
  const wide = given.SEALOOP_OUTBOUND_ALLOW
    .filter((net) => Number(net.split("/")[1] ?? 128) < WIDE_BITS);
  if (wide.length > 0) {
    say(
      "SEALOOP_OUTBOUND_ALLOW",
      "medium",
      `Webhooks may reach the whole network ${wide.join(" and ")}`,
      `Name the hosts that are meant in place of ${
        wide.join(" and ")
      }, or networks of /${WIDE_BITS} and longer`,
    );
  }
  if (given.SEALOOP_TRUSTED_HOPS > 0 && !given.SEALOOP_TLS_PROXY) {
    say(
      "SEALOOP_TRUSTED_HOPS",
      "medium",
      "X-Forwarded-For is believed, but no proxy is said to be in front",
      "Set SEALOOP_TLS_PROXY where a proxy is in front, else SEALOOP_TRUSTED_HOPS to 0",
    );
  }
  if (given.SEALOOP_OTS_CALENDARS.length === 0) {
    say(
      "SEALOOP_OTS_CALENDARS",
      "low",
      "Receipts are not anchored in Bitcoin",
      "Name calendars of OpenTimestamps in SEALOOP_OTS_CALENDARS, or leave it out for the usual ones",
    );
  }
  if (given.SEALOOP_LIMIT_TOOLS > MOST_TOOL_CALLS) {
    say(
      "SEALOOP_LIMIT_TOOLS",
      "low",
      `A key may call ${given.SEALOOP_LIMIT_TOOLS} tools a minute`,
      `Set SEALOOP_LIMIT_TOOLS to ${MOST_TOOL_CALLS} or less; 60 is usual`,
    );
  }
  return Promise.resolve(found);
};
