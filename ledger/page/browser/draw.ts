import { rowsTable } from "../lists.ts";
import { categoryBars, daysChart } from "../plots.ts";
import type { Summary } from "../tally.ts";
import { count, counted, stamp, time } from "../text.ts";
import { breaksList, chainStrip, verdictOf } from "../verdict.ts";
import { h, type View } from "../view.ts";
import { byId, fill } from "./dom.ts";
import type { Claim } from "./export.ts";
import type { Seen } from "./seen.ts";

/** How the checking goes. */
export interface Progress {
  readonly running: boolean;
  readonly paused: boolean;
  /** Pieces of work that wait. */
  readonly waiting: number;
  /** Receipts that nobody has asked to be checked. */
  readonly open: number;
  /** Why it does not go on. */
  readonly trouble: string | undefined;
  readonly seen: Seen | undefined;
}

const shown = new Map<string, string>();

/** Draws where something has changed, so that nothing is read out twice. */
function draw(id: string, view: View): void {
  const key = JSON.stringify(view) ?? "";
  if (shown.get(id) === key) return;
  shown.set(id, key);
  fill(byId(id), view);
}

/** Shows what this browser has found. */
export function drawSummary(summary: Summary, progress: Progress): void {
  const { state, checked, total, breaks } = summary;
  const { title, text, look } = headline(summary, progress);
  byId("verdict").className = `verdict ${look}`;
  draw("verdict-says", [h("p", { class: "big" }, title), h("p", {}, text)]);
  draw("verdict-count", [
    h("strong", {}, count(checked)),
    ` of ${counted(total, "receipt")} checked by this browser`,
  ]);
  draw("verdict-strip", chainStrip(summary));
  draw("verdict-breaks", state === "broken" && breaksList(summary));
  draw("verdict-seen", seenText(summary, progress));
  draw("verdict-actions", actions(summary, progress));
  if (summary.rows[0]?.position === total - 1) {
    const broken = new Set(breaks.map(({ position }) => position));
    const rows = summary.rows.map((row) => ({
      ...row,
      verified: row.verified && !broken.has(row.position),
    }));
    draw("tile-newest", stamp(rows[0]!.timestamp));
    draw(
      "rows",
      rowsTable(rows, "Newest receipts, newest first, as this browser has checked them"),
    );
  }
  if (checked > 0 && checked === total) {
    draw("categories", categoryBars([...summary.categories]));
    draw("categories-source", "Counted by this browser, from what it has checked");
  }
  draw("days", daysChart(summary.days, new Date().toISOString().slice(0, 10)));
  draw(
    "days-source",
    `Counted by this browser, from ${counted(checked, "receipt")} that it has checked`,
  );
}

function headline(summary: Summary, { running, paused, waiting, trouble }: Progress) {
  const { state } = summary;
  const verdict = verdictOf(summary);
  if (state === "broken" || state === "intact") return { ...verdict, look: state };
  if (trouble !== undefined) {
    const text = `${trouble}. This page tries again by itself; what is not checked is not known.`;
    return { title: "Stopped", text, look: "nothing" };
  }
  if (paused && waiting > 0) {
    return { title: "Paused", text: "What is not checked is not known.", look: "nothing" };
  }
  if (running) {
    const text =
      "This browser fetches the raw receipts and checks hash, canonical form, signature and link of each.";
    return { title: "Checking …", text, look: "checking" };
  }
  return { ...verdict, look: state };
}

function seenText({ state, ranges }: Summary, { seen }: Progress): View {
  if (!seen) return undefined;
  const there = ranges.some(([from, to]) => from < seen.size && seen.size <= to);
  if (!there || state === "broken") return undefined;
  return `On ${seen.day} this browser saw ${counted(seen.size, "receipt")} here. ` +
    "The last of them has the hash that it had then.";
}

function actions({ state, breaks }: Summary, progress: Progress): View {
  const { running, paused, waiting, open, seen } = progress;
  const button = (action: string, label: string) =>
    h("button", { type: "button", "data-action": action }, label);
  return [
    paused && waiting > 0 && button("go", "Go on"),
    running && !paused && waiting > 0 && button("pause", "Pause"),
    !running && open > 0 && button("all", `Check the other ${count(open)} too`),
    state === "broken" && seen &&
    breaks.some(({ reason }) => reason.includes("this browser saw")) &&
    button("forget", "Forget what this browser saw"),
  ];
}

/** Shows what the server says. */
export function drawClaim({ total, intact, breaks, verifiedThrough }: Claim): void {
  const says = intact === null ? "It can’t tell" : intact ? "Intact" : "Broken";
  draw("server-says", [
    h("p", { class: "big" }, says),
    h(
      "p",
      {},
      intact === false && `${counted(breaks, "position")} of the chain not holding. `,
      verifiedThrough >= 0
        ? `It says that it has verified through #${count(verifiedThrough)}.`
        : "It has verified nothing yet.",
    ),
  ]);
  draw("tile-total", count(total));
  draw("live", ["Live; last looked at ", time(new Date().toISOString())]);
}
