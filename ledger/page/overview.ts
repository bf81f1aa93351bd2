import type { Activity, Anchors, HowToVerify, Stats } from "./_answers.ts";
import type { ListQuery, ReadList } from "./_reading.ts";
import { listSection } from "./list_section.ts";
import { searchForm } from "./shell.ts";
import {
  categoryBars,
  daysChart,
  formatCount,
  groupHex,
  h,
  showStackedTime,
  type View,
} from "./views/mod.ts";
import { verifyYourself } from "./yourself.ts";

/** The data of the overview: what the server reports. */
export interface OverviewData {
  readonly stats: Stats;
  readonly anchors: Anchors;
  readonly rules: HowToVerify;
  readonly activity: Activity;
  readonly query: ListQuery;
  readonly list: ReadList;
  readonly ledgerUrl: string;
}

/** The page of the whole ledger. */
export function overviewPage(data: OverviewData): View {
  const { stats, anchors, rules, activity, query, list, ledgerUrl } = data;
  return [
    h("h1", {}, "A public ledger of signed receipts"),
    h(
      "p",
      { class: "lead" },
      "Each receipt is linked to the one before. Your browser checks the chain itself, from the raw bytes; ",
      "the server’s own verdict is beside it.",
    ),
    verdicts(stats),
    h(
      "section",
      { class: "finder", "aria-label": "Find or check" },
      searchForm(),
      h(
        "div",
        { id: "drop", class: "drop", hidden: true },
        h(
          "label",
          { for: "file" },
          "Check a published or an exported file or opened evidence, or pin a trust file",
        ),
        h("input", { id: "file", type: "file" }),
        h(
          "p",
          { class: "quiet" },
          "Or drop it anywhere on this page. It stays on your machine: of an article or a film, its SHA-256 alone is looked up. A trust file (sealoop.trust.json) says what you " +
            "know of this ledger from elsewhere; this browser keeps it, and believes nothing else.",
        ),
        h("div", { id: "report", "aria-live": "polite" }),
      ),
    ),
    tiles(stats),
    listSection(query, list),
    h(
      "div",
      { class: "pair" },
      h(
        "section",
        { "aria-labelledby": "categories-title" },
        h("h2", { id: "categories-title" }, "By category"),
        h("p", { class: "quiet", id: "categories-source" }, "Counted by the server"),
        h("div", { id: "categories" }, categoryBars(Object.entries(stats.provenance_summary))),
      ),
      h(
        "section",
        { "aria-labelledby": "days-title" },
        h("h2", { id: "days-title" }, "By day"),
        h(
          "p",
          { class: "quiet", id: "days-source" },
          "Counted by the server",
        ),
        h(
          "div",
          { id: "days" },
          daysChart(new Map(activity.days.map(({ day, receipts }) => [day, receipts])), today()),
        ),
      ),
    ),
    keySection(rules),
    anchorSection(anchors),
    verifyYourself(ledgerUrl, rules.log.verifier_key),
  ];
}

const today = () => new Date().toISOString().slice(0, 10);

function verdicts(stats: Stats): View {
  const { total_receipts: total, chain_intact: isIntact, verified_through: verifiedThrough } =
    stats;
  const verdict = isIntact === null ? "Unknown" : isIntact ? "Intact" : "Broken";
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
        h("p", {}, "This browser has not checked anything yet."),
      ),
      h(
        "noscript",
        {},
        h("p", {}, "Scripts are disabled. Use the commands below."),
      ),
      h("p", { id: "verdict-count", class: "of" }, `0 of ${formatCount(total)}`),
      h("div", { id: "verdict-strip" }),
      h("div", { id: "verdict-breaks" }),
      h("p", { id: "verdict-seen", class: "quiet" }),
      h("p", { id: "verdict-trust", class: "quiet" }),
      h("div", { id: "verdict-actions", class: "actions" }),
    ),
    h(
      "section",
      { class: "verdict server", "aria-labelledby": "server-by" },
      h("h2", { id: "server-by", class: "by" }, "What the server says"),
      h(
        "div",
        { id: "server-says" },
        h("p", { class: "big" }, verdict),
        h(
          "p",
          {},
          isIntact === false ? `Broken positions: ${formatCount(stats.breaks)}. ` : "",
          verifiedThrough >= 0
            ? `Verified through #${formatCount(verifiedThrough)}.`
            : "Nothing verified yet.",
        ),
      ),
      h("p", { class: "quiet" }, "This is a claim, not a proof."),
    ),
  );
}

function tiles(stats: Stats): View {
  const { last_timestamp: newest, genesis_timestamp: first } = stats;
  const tile = (id: string, name: string, value: View) =>
    h("div", {}, h("dt", {}, name), h("dd", { id }, value));
  return h(
    "section",
    { "aria-label": "Counts by the server" },
    h(
      "dl",
      { class: "tiles" },
      tile("tile-total", "Receipts", formatCount(stats.total_receipts)),
      tile("tile-newest", "Newest", newest === null ? "–" : showStackedTime(newest)),
      tile("tile-genesis", "First", first === null ? "–" : showStackedTime(first)),
      tile("tile-heals", "Self-heals", formatCount(stats.self_heals)),
      tile("tile-fixes", "Platform fixes", formatCount(stats.platform_fixes)),
    ),
  );
}

function keySection({ keys }: HowToVerify): View {
  return h(
    "section",
    { "aria-labelledby": "key-title" },
    h("h2", { id: "key-title" }, keys.length > 1 ? "Signing keys" : "Signing key"),
    h(
      "p",
      {},
      "Unless you pin a trust file, the checks trust the key that this server publishes. Compare its fingerprint with one from another source: ",
      "whoever controls both the server and the key could show you a different chain.",
    ),
    keys.length === 0 && h("p", { class: "quiet" }, "No key is published yet."),
    keys.map((key) =>
      h(
        "dl",
        { class: "key" },
        h(
          "div",
          {},
          h("dt", {}, "Fingerprint (SHA-256)"),
          h("dd", {}, groupHex(key.fingerprint_sha256)),
        ),
        h("div", {}, h("dt", {}, "Ed25519 public key"), h("dd", {}, groupHex(key.public_key))),
        h(
          "div",
          {},
          h("dt", {}, "Trusted from"),
          h("dd", {}, `#${formatCount(key.from_position)}`),
        ),
      )
    ),
  );
}

function anchorSection(anchors: Anchors): View {
  const { anchored_share: share, newest_block_height: height, pending } = anchors;
  const percent = `${(share * 100).toFixed(1)} %`;
  const line = (name: string, value: View) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return h(
    "section",
    { "aria-labelledby": "anchors-title" },
    h("h2", { id: "anchors-title" }, "Anchored in Bitcoin"),
    h(
      "p",
      {},
      "An anchored receipt is provably older than a Bitcoin block. The server makes these counts; the page of a ",
      "receipt checks its proof.",
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
      line("Anchored", formatCount(anchors.anchored_receipts)),
      line("Share", percent),
      line("Not yet", formatCount(pending.receipts + pending.unbatched_receipts)),
      height !== null && line("Newest block", formatCount(height)),
    ),
  );
}
