import type { ServiceStatus } from "../stories/mod.ts";
import type { Call } from "./_answers.ts";
import { show, type SiteResponse } from "./_responses.ts";
import { h, pluralize, receiptUrl, showText, showTime, storyUrl, type View } from "./views/mod.ts";

/** The answer of `public_ledger.status`. */
interface Status {
  readonly from: string;
  readonly to: string;
  readonly services: readonly ServiceStatus[];
}

const DAY_MS = 86_400_000;
/** Looks are sealed every hour; where none was for longer, nobody is told that all is well. */
const STALE_MS = 2 * 3_600_000 + 600_000;
const MAX_INCIDENTS = 20;
/** Share of a day's observed time from which a service is called up. */
const MOSTLY_UP = 0.995;

/** Shows uptime and incidents of the services that the operator names in public. */
export async function showStatus(call: Call): Promise<SiteResponse> {
  const status = await call("public_ledger.status", {}) as Status;
  const services = status.services.filter(({ published }) => published);
  return show("Status", [
    h("h1", {}, "Status"),
    h(
      "p",
      { class: "lead" },
      services.length === 0
        ? "The operator has named no service in public. Each is private unless the services file says otherwise."
        : "Uptime and incidents, computed from public receipts alone. Anybody can compute the same: ",
      services.length > 0 && h("a", { href: "/api/status" }, "the figures as JSON"),
      services.length > 0 && "; every figure stands in receipts of the service’s id.",
    ),
    services.map((one) => serviceSection(one, status)),
    h(
      "p",
      { class: "quiet" },
      "Up is what two looks within two minutes of each other both found healthy. What was not looked at counts as neither " +
        "up nor down, and its days are empty. The platform makes these looks itself; that it looked honestly, no receipt proves.",
    ),
  ]);
}

function serviceSection(service: ServiceStatus, { from, to }: Status): View {
  const { service_id: id, name, uptime, observed_ms, seen_at, incidents } = service;
  const open = incidents.filter(({ ended_at }) => ended_at === null);
  const isStale = seen_at !== null && !(Date.now() - Date.parse(seen_at) < STALE_MS);
  const state = open.length > 0 ? "broken" : seen_at === null || isStale ? "nothing" : "intact";
  return h(
    "section",
    { class: `verdict service ${state}`, "aria-labelledby": id },
    h("h2", { id }, showText(name, 60)),
    h(
      "p",
      { class: "big" },
      {
        broken: `${pluralize(open.length, "open incident")}`,
        nothing: isStale ? "Not looked at lately" : "Not observed yet",
        intact: "No open incident",
      }[state],
    ),
    h(
      "p",
      {},
      uptime === null
        ? "Nothing was observed in these days."
        : `Up ${percent(uptime)} of the ${
          hours(observed_ms)
        } in which it was looked at, ${from} to ${to}.`,
      seen_at !== null && [" Last sealed look: ", showTime(seen_at), "."],
    ),
    dayStrip(service, { from, to }),
    h(
      "p",
      { class: "quiet" },
      h("a", { href: `/?about=${id}#receipts` }, `Receipts of ${id}`),
    ),
    incidents.length > 0 && h(
      "ul",
      { class: "breaks" },
      incidents.slice(0, MAX_INCIDENTS).map(({ incident_id, opened_at, ended_at, receipt_id }) =>
        h(
          "li",
          {},
          h("a", { href: storyUrl(incident_id) }, incident_id),
          " ",
          showTime(opened_at),
          ended_at === null ? ", open" : [", over ", showTime(ended_at)],
          " · ",
          h("a", { href: receiptUrl(receipt_id) }, "receipt"),
        )
      ),
    ),
  );
}

/** Draws a day each: how much of it was observed, and how much of that it was up. */
function dayStrip(
  { days, name }: ServiceStatus,
  { from, to }: { readonly from: string; readonly to: string },
): View {
  const known = new Map(days.map((one) => [one.day, one]));
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const all = Array.from(
    { length: count },
    (_, n) => new Date(Date.parse(from) + n * DAY_MS).toISOString().slice(0, 10),
  );
  const unknown = all.filter((day) => !known.has(day)).length;
  return h(
    "svg",
    {
      class: "uptime",
      viewBox: `0 0 ${count * 10} 30`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${name}, day by day: ${
        pluralize(days.length, "day")
      } observed, ${unknown} not`,
    },
    all.map((day, n) => {
      const { observed_ms = 0, up_ms = 0 } = known.get(day) ?? {};
      const share = observed_ms === 0 ? undefined : up_ms / observed_ms;
      const look = share === undefined
        ? "unknown"
        : share >= MOSTLY_UP
        ? "up"
        : share > 0.9
        ? "part"
        : "down";
      const says = share === undefined
        ? "not observed"
        : `up ${percent(share)} of ${hours(observed_ms)}`;
      return h(
        "rect",
        { class: look, x: n * 10 + 1, y: 1, width: 8, height: 28 },
        h("title", {}, `${day}: ${says}`),
      );
    }),
  );
}

/** Never rounds up to a hundred. */
const percent = (share: number) =>
  `${(Math.floor(share * 100_000) / 1_000).toFixed(3).replace(/\.?0+$/, "")} %`;
const hours = (ms: number) =>
  ms < 2 * 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
