import { readStoryReceipt, tellReceipt } from "../stories/mod.ts";
import { readFields, readText } from "./checks/mod.ts";
import {
  groupHex,
  h,
  indentJson,
  pluralize,
  receiptUrl,
  showText,
  showTime,
  SIGNS,
  storyUrl,
  type View,
} from "./views/mod.ts";

/** The data of a receipt's page. */
export interface ReceiptPageData {
  readonly position: number;
  /** The record as it was exported. */
  readonly record: string;
  readonly id: string;
  readonly isFirst: boolean;
  readonly isNewest: boolean;
  /** The server's verdict; undefined if it has none. */
  readonly server: { readonly verified: boolean; readonly reasons: readonly string[] } | undefined;
  /** When the scrub found it broken, and the receipt of that; undefined: it has not, or has found it healed since. */
  readonly broken: { readonly at: string; readonly receipt: string } | undefined;
  /** Id of the newer receipt that corrects this one. */
  readonly supersededBy: string | undefined;
  readonly ledgerUrl: string;
}

/** Category of receipts whose content a key holder wrote, except category, actor and time. */
const SEALED_FOR_OTHERS = "api_seal";
/** Maximum characters of a record on the page. */
const MAX_PRINTED = 20_000;

/** The page of a receipt: what it says in a sentence, one verdict, the proofs folded. Its essential parts work without scripts. */
export function receiptPage(data: ReceiptPageData): View {
  const { position, record, server, supersededBy } = data;
  const fields = readFields(record);
  const text = (name: string) => fields ? readText(fields, name) : "";
  const sentence = tellReceipt(readStoryReceipt(record, position));
  return [
    neighbours(data),
    h("h1", { class: "receipt" }, showText(sentence.text, 300)),
    h(
      "p",
      { class: "lead" },
      h("span", { class: "tag" }, showText(text("category"), 60)),
      ` receipt #${position}, `,
      showTime(text("timestamp")),
      sentence.names.map((name) => [" · ", h("a", { href: storyUrl(name) }, name)]),
    ),
    sentence.quote !== "" && h(
      "figure",
      { class: "quote" },
      h("blockquote", {}, showText(sentence.quote, 4000)),
      h("figcaption", { class: "quiet" }, "A person published these words with it."),
    ),
    text("category") === SEALED_FOR_OTHERS && h(
      "p",
      { class: "note" },
      "Sealed for a key holder: the actor wrote this content. The ledger proves what was written and when, not that ",
      "it is true.",
    ),
    supersededBy !== undefined && h(
      "p",
      { class: "note" },
      "A newer receipt corrects this one: ",
      h("a", { href: receiptUrl(supersededBy) }, showText(supersededBy, 64)),
    ),
    h(
      "section",
      { id: "checks", class: "verdict nothing", "aria-labelledby": "checks-by" },
      h("h2", { id: "checks-by", class: "by" }, "Checked by this browser"),
      h(
        "div",
        { id: "checks-says", "aria-live": "polite" },
        h("p", { class: "big" }, "Not checked"),
        h("p", {}, "This browser has not checked it yet."),
      ),
      h("noscript", {}, h("p", {}, "Scripts are disabled. Use the commands below.")),
      brokenSince(data),
      h(
        "details",
        { id: "proofs" },
        h("summary", {}, "The proofs, one by one"),
        h("div", { id: "checks-steps" }),
        h("p", { class: "quiet" }, "The server says: ", serverVerdict(server)),
      ),
      h("p", { id: "verdict-trust", class: "quiet" }),
    ),
    h(
      "section",
      { "aria-labelledby": "fields-title" },
      h("h2", { id: "fields-title" }, "Content"),
      fields ? fieldList(fields) : h("p", {}, "The record is not valid JSON."),
    ),
    byHand(data),
    rawRecord(record),
  ];
}

/** Says since when the scrub has known that it does not hold, where a receipt of the scrub says so. */
function brokenSince({ broken }: ReceiptPageData): View {
  if (!broken) return undefined;
  return h(
    "p",
    { id: "broken-since" },
    "The platform’s own check found it broken at ",
    showTime(broken.at),
    ", and sealed that: ",
    h("a", { href: receiptUrl(broken.receipt) }, showText(broken.receipt, 64)),
    ".",
  );
}

function serverVerdict(server: ReceiptPageData["server"]): View {
  if (!server) return "unknown";
  if (server.verified) return [SIGNS.pass, " verified"];
  return [SIGNS.fail, " not verified: ", showText(server.reasons.join("; "), 400)];
}

/** Links to the entries before and after. */
function neighbours({ position, isFirst, isNewest }: ReceiptPageData): View {
  const to = (at: number, rel: string, label: string) =>
    h("a", { href: `/at/${at}`, rel, "aria-label": `${label}, #${at}` }, `#${at}`);
  return h(
    "nav",
    { class: "walk", "aria-label": "Along the chain" },
    isFirst
      ? h("span", { class: "end" }, "first entry")
      : to(position - 1, "prev", "Previous entry"),
    h("span", { class: "here", "aria-current": "page" }, `#${position}`),
    isNewest ? h("span", { class: "end" }, "newest entry") : to(position + 1, "next", "Next entry"),
  );
}

/** Fields that come first, in this order. */
const FIRST = ["id", "timestamp", "category", "actor", "subject", "action", "outcome"];
const LINKED = new Set(["supersedes", "learned_from"]);
/** Fields that only the raw record shows. */
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
        h("dt", {}, showText(name, 60)),
        h("dd", {}, fieldValue(name, fields.get(name)!)),
      )
    ),
  );
}

function fieldValue(name: string, json: string): View {
  if (LINKED.has(name)) return links(json);
  if (!json.startsWith('"')) {
    return /^[[{]/.test(json) && json.length > 2
      ? h("pre", { tabindex: 0 }, h("code", {}, showText(indentJson(json), MAX_PRINTED)))
      : h("code", {}, showText(json));
  }
  const value = JSON.parse(json);
  if (value === "") return h("span", { class: "quiet" }, "(empty)");
  if (/^[0-9a-f]{32,}$/.test(value)) return h("code", {}, groupHex(value));
  return name === "timestamp" ? [showTime(value), " ", exact(value)] : showText(value);
}

const exact = (value: string) => h("span", { class: "quiet" }, showText(value, 60));

function links(json: string): View {
  const value = JSON.parse(json);
  const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
  return ids.slice(0, 100).map((id, n) => [
    n > 0 && ", ",
    h("a", { href: receiptUrl(id) }, showText(id, 64)),
  ]);
}

function byHand({ position, id, ledgerUrl }: ReceiptPageData): View {
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
      "This computes the hash of an era 3 receipt from its bytes. For signatures and other eras see ",
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
        " (once there is one), ",
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
    h("summary", {}, `Raw record, ${pluralize(record.length, "character")}`),
    h("pre", { tabindex: 0 }, h("code", {}, showText(record, MAX_PRINTED))),
  );
}

/** A page with a message. */
export function messagePage(title: string, text: View): View {
  return [h("h1", {}, title), h("p", { class: "lead" }, text)];
}
