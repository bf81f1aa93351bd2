import { canonicalizeFields, NotCanonical } from "../rules/mod.ts";
import { counted, grouped, indented, legible, time } from "./text.ts";
import { receiptUrl, SIGNS } from "./verdict.ts";
import { h, type View } from "./view.ts";

/** What the page of one receipt shows. */
export interface Exhibited {
  readonly position: number;
  /** The record as it was exported. */
  readonly record: string;
  readonly id: string;
  readonly isFirst: boolean;
  readonly isNewest: boolean;
  /** What the server says of it; undefined: it could not tell. */
  readonly server: { readonly verified: boolean; readonly reasons: readonly string[] } | undefined;
  /** Id of the newer receipt that corrects this one. */
  readonly supersededBy: string | undefined;
  readonly ledgerUrl: string;
}

/** Category of what holders of keys have sealed; they choose all of it but category, actor and time. */
const SEALED_FOR_OTHERS = "api_seal";
/** Most bytes of a record that the page prints. */
const MOST_PRINTED = 20_000;

/** The page of one receipt; it says all that is essential without a script. */
export function receiptPage(exhibited: Exhibited): View {
  const { position, record, id, server, supersededBy } = exhibited;
  const fields = fieldsOf(record);
  const subject = text(fields, "subject") || text(fields, "action") || id;
  return [
    walk(exhibited),
    h("h1", { class: "receipt" }, legible(subject, 200)),
    h(
      "p",
      { class: "lead" },
      h("span", { class: "tag" }, legible(text(fields, "category"), 60)),
      ` receipt #${position}, `,
      time(text(fields, "timestamp")),
    ),
    text(fields, "category") === SEALED_FOR_OTHERS && h(
      "p",
      { class: "note" },
      "Sealed for somebody: the holder of the key that is its actor says this, in words of their own. The ledger keeps ",
      "what was said and when; that it is so, the platform has not seen.",
    ),
    supersededBy !== undefined && h(
      "p",
      { class: "note" },
      "A newer receipt says that it corrects this one: ",
      h("a", { href: receiptUrl(supersededBy) }, legible(supersededBy, 64)),
    ),
    h(
      "section",
      { id: "checks", class: "verdict nothing", "aria-labelledby": "checks-by" },
      h("h2", { id: "checks-by", class: "by" }, "Checked by this browser"),
      h(
        "div",
        { id: "checks-says", "aria-live": "polite" },
        h("p", { class: "big" }, "Not checked"),
        h("p", {}, "This browser has checked nothing so far."),
      ),
      h("noscript", {}, h("p", {}, "Scripts are off here. Check it by hand, as below.")),
      h("div", { id: "checks-steps" }),
      h("p", { class: "quiet" }, "The server says: ", serverSays(server)),
    ),
    h(
      "section",
      { "aria-labelledby": "fields-title" },
      h("h2", { id: "fields-title" }, "What it says"),
      fields ? fieldList(fields) : h("p", {}, "The record is not readable as JSON."),
    ),
    byHand(exhibited),
    rawRecord(record),
  ];
}

function serverSays(server: Exhibited["server"]): View {
  if (!server) return "nothing";
  if (server.verified) return [SIGNS.pass, " verified"];
  return [SIGNS.fail, " not verified: ", legible(server.reasons.join("; "), 400)];
}

/** Steps to the entries before and after. */
function walk({ position, isFirst, isNewest }: Exhibited): View {
  const to = (at: number, rel: string, label: string) =>
    h("a", { href: `/at/${at}`, rel, "aria-label": `${label}, #${at}` }, `#${at}`);
  return h(
    "nav",
    { class: "walk", "aria-label": "Along the chain" },
    isFirst
      ? h("span", { class: "end" }, "first entry")
      : to(position - 1, "prev", "The entry before"),
    h("span", { class: "here", "aria-current": "page" }, `#${position}`),
    isNewest
      ? h("span", { class: "end" }, "newest entry")
      : to(position + 1, "next", "The entry after"),
  );
}

/** Fields that everybody asks for, in this order; the others follow. */
const FIRST = ["id", "timestamp", "category", "actor", "subject", "action", "outcome"];
const LINKED = new Set(["supersedes", "learned_from"]);
/** Shown with the record itself. */
const RAW = new Set(["canonical_bytes"]);

function fieldList(fields: ReadonlyMap<string, string>): View {
  const names = [
    ...FIRST.filter((name) => fields.has(name)),
    ...[...fields.keys()].filter((name) => !FIRST.includes(name) && !RAW.has(name)),
  ];
  return h(
    "dl",
    { class: "fields" },
    names.map((name) =>
      h(
        "div",
        {},
        h("dt", {}, legible(name, 60)),
        h("dd", {}, fieldValue(name, fields.get(name)!)),
      )
    ),
  );
}

function fieldValue(name: string, json: string): View {
  if (LINKED.has(name)) return links(json);
  if (!json.startsWith('"')) {
    return /^[[{]/.test(json) && json.length > 2
      ? h("pre", { tabindex: 0 }, h("code", {}, legible(indented(json), MOST_PRINTED)))
      : h("code", {}, legible(json));
  }
  const value = JSON.parse(json);
  if (value === "") return h("span", { class: "quiet" }, "(empty)");
  if (/^[0-9a-f]{32,}$/.test(value)) return h("code", {}, grouped(value));
  return name === "timestamp" ? [time(value), " ", exact(value)] : legible(value);
}

const exact = (value: string) => h("span", { class: "quiet" }, legible(value, 60));

function links(json: string): View {
  const value = JSON.parse(json);
  const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
  return ids.slice(0, 100).map((id, n) => [
    n > 0 && ", ",
    h("a", { href: receiptUrl(id) }, legible(id, 64)),
  ]);
}

function byHand({ position, id, ledgerUrl }: Exhibited): View {
  const path = `/api/receipt/${encodeURIComponent(id)}`;
  const command = (text: string) => h("pre", { tabindex: 0 }, h("code", {}, text));
  const exported = `curl -s '${ledgerUrl}/api/export?from=${position}&to=${position + 1}'`;
  return h(
    "section",
    { "aria-labelledby": "hand-title" },
    h("h2", { id: "hand-title" }, "Check it by hand"),
    h(
      "p",
      {},
      "For an entry of era 3 this prints the receipt’s hash_sha256, derived from its bytes alone; the signature and ",
      "the rules of all eras are in ",
      h("a", { href: "/api/how-to-verify" }, "how to verify"),
      ".",
    ),
    command(`${exported} \\\n  | jq -r '.receipts[0].canonical_bytes' | xxd -r -p | sha256sum`),
    id !== "" && [
      h(
        "p",
        {},
        "For other tools: ",
        h("a", { href: `${path}.bin` }, "the bytes"),
        ", ",
        h("a", { href: `${path}.ots` }, "their OpenTimestamps proof"),
        " once there is one, and ",
        h(
          "a",
          { href: `/api/log/inclusion/${encodeURIComponent(id)}` },
          "the proof of inclusion in the Merkle log",
        ),
        ".",
      ),
      command(
        `curl -s '${ledgerUrl}${path}.bin' > receipt.bin\n` +
          `curl -s '${ledgerUrl}${path}.ots' > receipt.bin.ots\nots verify receipt.bin.ots`,
      ),
    ],
  );
}

function rawRecord(record: string): View {
  return h(
    "details",
    { class: "raw" },
    h("summary", {}, `The record as it was exported, ${counted(record.length, "character")}`),
    h("pre", { tabindex: 0 }, h("code", {}, legible(record, MOST_PRINTED))),
  );
}

/** A page for what is not there, or can't be told. */
export function messagePage(title: string, text: View): View {
  return [h("h1", {}, title), h("p", { class: "lead" }, text)];
}

function fieldsOf(record: string): ReadonlyMap<string, string> | undefined {
  try {
    return canonicalizeFields(record);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

function text(fields: ReadonlyMap<string, string> | undefined, name: string): string {
  const json = fields?.get(name);
  return json?.startsWith('"') ? JSON.parse(json) : "";
}
