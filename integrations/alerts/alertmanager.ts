import { z } from "zod";
import type { Config } from "../../config.ts";
import { findCredential } from "../channels/mod.ts";
import { openRemoteClient, remember } from "../remote/mod.ts";
import { type Alert, AlertList } from "./read_alerts.ts";

/** A silence to set: exactly one alert's labels. */
interface Silence {
  readonly labels: Alert["labels"];
  /** Found again by it. */
  readonly mark: string;
  /** ISO 8601. It ends then, whoever lives. */
  readonly endsAt: string;
}

/** A silence as Alertmanager has it. */
interface SetSilence {
  readonly id: string;
  readonly mark: string;
  readonly isOver: boolean;
}

/** Start and time of an Alertmanager, by its own clock. */
export interface AlertClock {
  /** When it began: what it was sent before, it has forgotten. */
  readonly startedAt: Date;
  /** Undefined: it does not tell the time. */
  readonly now: Date | undefined;
}

/** Reads the alerts of an Alertmanager, and silences them. Every method throws {@linkcode RemoteFailed}. */
export interface AlertSource {
  /** Lists all alerts that fire, silenced and inhibited ones too. */
  list(): Promise<readonly Alert[]>;
  /** As `list`, but the answer may be a second old, so that the sweeps of many tenants cost one reading. */
  listRecent(): Promise<readonly Alert[]>;
  /** Reads Alertmanager's clock. */
  readClock(): Promise<AlertClock>;
  /** Sets a silence, with one attempt. @returns its id */
  silence(silence: Silence): Promise<string>;
  /** Lists the silences that have a mark of ours. */
  listSilences(): Promise<SetSilence[]>;
  /** Ends a silence, with one attempt. */
  lift(id: string): Promise<void>;
}

const AUTHOR = "sealoop";
/** Some thousands of alerts. More are a storm that nothing should be done by. */
const MAX_BYTES = 8 * 1024 * 1024;
const RECENT_MS = 1_000;
/** They may be many megabytes, which are read within it, too; a detector has eight seconds. */
const TIMEOUT_MS = 6_000;
const ALERTS = "/api/v2/alerts?active=true&silenced=true&inhibited=true&unprocessed=true";

const Id = z.string().regex(/^[\w-]{1,64}$/);
const Time = z.iso.datetime({ offset: true });
const Silences = z.array(z.object({
  id: Id,
  comment: z.string(),
  createdBy: z.string(),
  status: z.object({ state: z.string() }),
}));

/**
 * Opens the client of an Alertmanager, if its URL is set.
 *
 * @param timeoutMs for a read with all its attempts, or for an act
 * @see https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
export function openAlertSource(
  config: Config,
  timeoutMs = TIMEOUT_MS,
): AlertSource | undefined {
  const { SEALOOP_ALERTMANAGER_URL: url } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: "Alertmanager",
    url,
    maxBytes: MAX_BYTES,
    timeoutMs,
    credential: () => authorization(findCredential(config, "alertmanager")),
  });
  const list = () =>
    client.read({ method: "GET", path: ALERTS, answer: AlertList, parsedAs: "alerts" });
  return {
    list,
    listRecent: remember(list, RECENT_MS),
    async readClock() {
      let nowMs = NaN;
      const { uptime } = await client.read({
        method: "GET",
        path: "/api/v2/status",
        answer: z.object({ uptime: Time }),
        onHeaders: ({ date }) => nowMs = Date.parse(date ?? ""),
      });
      return { startedAt: new Date(uptime), now: isNaN(nowMs) ? undefined : new Date(nowMs) };
    },
    async silence({ labels, mark, endsAt }) {
      const matchers = Object.entries(labels)
        .map(([name, value]) => ({ name, value, isRegex: false, isEqual: true }));
      const startsAt = new Date().toISOString();
      const { silenceID } = await client.act({
        method: "POST",
        path: "/api/v2/silences",
        body: { matchers, startsAt, endsAt, createdBy: AUTHOR, comment: mark },
        answer: z.object({ silenceID: Id }),
      });
      return silenceID;
    },
    async listSilences() {
      const all = await client.read({ method: "GET", path: "/api/v2/silences", answer: Silences });
      return all.filter(({ createdBy }) => createdBy === AUTHOR)
        .map(({ id, comment: mark, status: { state } }) => ({
          id,
          mark,
          isOver: state === "expired",
        }));
    },
    async lift(id) {
      const path = `/api/v2/silence/${encodeURIComponent(id)}`;
      await client.act({ method: "DELETE", path });
    },
  };
}

/** `user:password` is sent as such, which is all that Alertmanager itself knows; a token is for a proxy before it. */
function authorization(credential: string | undefined): Record<string, string> {
  if (credential === undefined) return {};
  return {
    authorization: credential.includes(":")
      ? `Basic ${Buffer.from(credential).toString("base64")}`
      : `Bearer ${credential}`,
  };
}
