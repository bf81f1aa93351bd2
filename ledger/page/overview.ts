import type { Row } from "./check.ts";
import { rowsTable } from "./lists.ts";
import { categoryBars } from "./plots.ts";
import { searchForm } from "./shell.ts";
import { count, grouped, stamp } from "./text.ts";
import { yourself } from "./yourself.ts";
import { h, type View } from "./view.ts";

/** What the ledger's first page shows, all of it as the server says. */
export interface Overview {
  readonly total: number;
  /** Null: the server can't tell. */
  readonly intact: boolean | null;
  readonly breaks: number;
  readonly verifiedThrough: number;
  readonly newest: string | null;
  readonly genesis: string | null;
  readonly selfHeals: number;
  readonly platformFixes: number;
  readonly categories: readonly (readonly [name: string, n: number])[];
  readonly rows: readonly Row[];
  readonly keys: readonly {
    readonly publicKey: string;
    readonly fingerprint: string;
    readonly fromPosition: number;
  }[];
  readonly anchors: Anchors;
  /** Of the Merkle log, as `name+id+key`; null: it has signed nothing yet. */
  readonly logKey: string | null;
  readonly ledgerUrl: string;
}

/** What `/api/anchors` says. */
export interface Anchors {
  /** Receipts that are in a block. */
  readonly receipts: number;
  /** Share of receipts that are, from 0 to 1. */
  readonly share: number;
  /** Receipts that are not yet. */
  readonly pending: number;
  readonly newestHeight: number | null;
}

/** The first page. */
export function overview(data: Overview): View {
  return [
    h("h1", {}, "Every act on record, and nobody’s word for it"),
    h(
      "p",
      { class: "lead" },
      "This ledger is a chain of signed receipts. Your own browser checks it below, from the raw bytes; ",
      "what the server thinks of itself stands beside it.",
    ),
    verdicts(data),
    h(
      "section",
      { class: "finder", "aria-label": "Find or check" },
      searchForm(),
      h(
        "div",
        { id: "drop", class: "drop", hidden: true },
        h("label", { for: "file" }, "Check an exported file"),
        h("input", { id: "file", type: "file", accept: ".json,.ndjson,.jsonl,application/json" }),
        h("p", { class: "quiet" }, "Or drop it anywhere on this page. It stays on your machine."),
        h("div", { id: "report", "aria-live": "polite" }),
      ),
    ),
    tiles(data),
    h(
      "section",
      { id: "receipts", "aria-labelledby": "receipts-title" },
      h(
        "div",
        { class: "heading" },
        h("h2", { id: "receipts-title" }, "Newest receipts"),
        h("p", { class: "quiet", id: "live" }, "As of when this page was opened"),
      ),
      h(
        "div",
        { id: "rows", class: "scroll", tabindex: 0, role: "region", "aria-label": "Receipts" },
        rowsTable(data.rows, "Newest receipts, newest first"),
      ),
    ),
    h(
      "div",
      { class: "pair" },
      h(
        "section",
        { "aria-labelledby": "categories-title" },
        h("h2", { id: "categories-title" }, "By category"),
        h("p", { class: "quiet", id: "categories-source" }, "All receipts, as the server says"),
        h("div", { id: "categories" }, categoryBars(data.categories)),
      ),
      h(
        "section",
        { "aria-labelledby": "days-title" },
        h("h2", { id: "days-title" }, "By day"),
        h(
          "p",
          { class: "quiet", id: "days-source" },
          "Counted by this browser, from what it has checked",
        ),
        h("div", { id: "days" }, h("p", { class: "quiet" }, "Nothing has been counted yet.")),
      ),
    ),
    keySection(data),
    anchorSection(data.anchors),
    yourself(data),
  ];
}

function verdicts({ total, intact, breaks, verifiedThrough }: Overview): View {
  const says = intact === null ? "It can’t tell" : intact ? "Intact" : "Broken";
  return h(
    "div",
    { class: "verdicts" },
    h(
      "section",
      { id: "verdict", class: "verdict nothing", "aria-labelledby": "verdict-by" },
      h("h2", { id: "verdict-by", class: "by" }, "Checked by this browser"),
      h(
        "div",
        { id: "verdict-says", "aria-live": "polite" },
        h("p", { class: "big" }, "Not checked yet"),
        h("p", {}, "This browser has checked nothing so far."),
      ),
      h(
        "noscript",
        {},
        h("p", {}, "Scripts are off here. Check it yourself with the commands below."),
      ),
      h("p", { id: "verdict-count", class: "of" }, `0 of ${count(total)}`),
      h("div", { id: "verdict-strip" }),
      h("div", { id: "verdict-breaks" }),
      h("p", { id: "verdict-seen", class: "quiet" }),
      h("div", { id: "verdict-actions", class: "actions" }),
    ),
    h(
      "section",
      { class: "verdict server", "aria-labelledby": "server-by" },
      h("h2", { id: "server-by", class: "by" }, "What the server says"),
      h(
        "div",
        { id: "server-says" },
        h("p", { class: "big" }, says),
        h(
          "p",
          {},
          intact === false ? `${count(breaks)} positions do not hold. ` : "",
          verifiedThrough >= 0
            ? `It says that it has verified through #${count(verifiedThrough)}.`
            : "It has verified nothing yet.",
        ),
      ),
      h("p", { class: "quiet" }, "This is its word, and no proof."),
    ),
  );
}

function tiles({ total, newest, genesis, selfHeals, platformFixes }: Overview): View {
  const tile = (id: string, name: string, value: View) =>
    h("div", {}, h("dt", {}, name), h("dd", { id }, value));
  return h(
    "section",
    { "aria-label": "Figures, as the server says" },
    h(
      "dl",
      { class: "tiles" },
      tile("tile-total", "Receipts", count(total)),
      tile("tile-newest", "Newest", newest === null ? "–" : stamp(newest)),
      tile("tile-genesis", "First", genesis === null ? "–" : stamp(genesis)),
      tile("tile-heals", "Self-heals", count(selfHeals)),
      tile("tile-fixes", "Platform fixes", count(platformFixes)),
    ),
  );
}

function keySection({ keys }: Overview): View {
  return h(
    "section",
    { "aria-labelledby": "key-title" },
    h("h2", { id: "key-title" }, keys.length > 1 ? "Signing keys" : "Signing key"),
    h(
      "p",
      {},
      "All checks here trust the key that this server publishes. Compare its fingerprint with one that you have ",
      "from elsewhere: who controls both the server and the key could show you another chain.",
    ),
    keys.length === 0 && h("p", { class: "quiet" }, "No key is published yet."),
    keys.map(({ publicKey, fingerprint, fromPosition }) =>
      h(
        "dl",
        { class: "key" },
        h("div", {}, h("dt", {}, "Fingerprint (SHA-256)"), h("dd", {}, grouped(fingerprint))),
        h("div", {}, h("dt", {}, "Ed25519 public key"), h("dd", {}, grouped(publicKey))),
        h("div", {}, h("dt", {}, "Trusted from"), h("dd", {}, `#${count(fromPosition)}`)),
      )
    ),
  );
}

function anchorSection({ receipts, share, pending, newestHeight }: Anchors): View {
  const percent = `${(share * 100).toFixed(1)} %`;
  const line = (name: string, value: View) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return h(
    "section",
    { "aria-labelledby": "anchors-title" },
    h("h2", { id: "anchors-title" }, "Anchored in Bitcoin"),
    h(
      "p",
      {},
      "An anchored receipt is older than a block, whoever holds the key. The counts are the server’s word; the page of a ",
      "receipt checks its proof, down to the block’s header.",
    ),
    h(
      "svg",
      {
        class: "strip",
        viewBox: "0 0 1000 14",
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${percent} of the receipts are anchored`,
      },
      h("rect", { class: "unchecked", width: 1000, height: 14 }),
      h("rect", { class: "checked", width: Math.round(share * 1000), height: 14 }),
    ),
    h(
      "dl",
      { class: "tiles" },
      line("Anchored", count(receipts)),
      line("Share", percent),
      line("Not yet", count(pending)),
      newestHeight !== null && line("Newest block", count(newestHeight)),
    ),
  );
}
