import type { CheckSummary } from "../checks/mod.ts";
import {
  breaksList,
  categoryBars,
  chainStrip,
  daysChart,
  describeState,
  formatCount,
  h,
  pluralize,
  showStackedTime,
  type View,
} from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import type { ServerClaim } from "./fetch.ts";
import { type LastVisit, nameVisit } from "./last_visit.ts";
import type { QueueState } from "./queue.ts";

/** The progress of the checks. */
export interface Progress extends QueueState {
  readonly lastVisit: LastVisit | undefined;
}

const drawn = new Map<string, string>();

/** Draws a view if it has changed, so that screen readers do not repeat it. */
function draw(id: string, view: View): void {
  const key = JSON.stringify(view) ?? "";
  if (drawn.get(id) === key) return;
  drawn.set(id, key);
  fill(byId(id), view);
}

/** Shows the results of this browser. */
export function drawSummary(summary: CheckSummary, progress: Progress): void {
  const { state, checked, total } = summary;
  const { title, text, look } = describeProgress(summary, progress);
  byId("verdict").className = `verdict ${look}`;
  byId("verdict").toggleAttribute("data-checking", progress.running);
  draw("verdict-says", [h("p", { class: "big" }, title), h("p", {}, text)]);
  draw("verdict-count", [
    h("strong", {}, formatCount(checked)),
    ` of ${pluralize(total, "receipt")} checked by this browser`,
  ]);
  draw("verdict-strip", chainStrip(summary));
  draw("verdict-breaks", state === "broken" && breaksList(summary));
  draw("verdict-seen", describeLastVisit(summary, progress));
  draw("verdict-actions", actions(summary, progress));
  const [newest] = summary.rows;
  if (newest?.position === total - 1) draw("tile-newest", showStackedTime(newest.timestamp));
  if (checked > 0 && checked === total) {
    draw("categories", categoryBars([...summary.categories]));
    draw("categories-source", "Counted by this browser");
  }
  draw("days", daysChart(summary.days, new Date().toISOString().slice(0, 10)));
  draw("days-source", `Counted by this browser, from ${pluralize(checked, "receipt")}`);
}

function describeProgress(summary: CheckSummary, { running, paused, waiting, error }: Progress) {
  const { state } = summary;
  const described = describeState(summary);
  if (state === "broken" || state === "intact") return { ...described, look: state };
  if (state === "unproven" && !running && waiting === 0) return { ...described, look: "unproven" };
  if (error !== undefined) {
    return { title: "Stopped", text: `${error}. The page will try again.`, look: "nothing" };
  }
  if (paused && waiting > 0) {
    return { title: "Paused", text: "The other receipts are not checked.", look: "nothing" };
  }
  if (running) {
    const text =
      "This browser fetches the raw receipts and checks hash, canonical form, signature and link of each.";
    return { title: "Checking …", text, look: "checking" };
  }
  return { ...described, look: state };
}

function describeLastVisit({ state, ranges }: CheckSummary, { lastVisit }: Progress): View {
  if (!lastVisit || state === "broken") return undefined;
  const { size, day } = lastVisit;
  const isChecked = ranges.some(([from, to]) => from < size && size <= to);
  return isChecked &&
    `On ${day} this browser saw ${pluralize(size, "receipt")} here. The last of them is unchanged.`;
}

function actions({ state, breaks, total }: CheckSummary, progress: Progress): View {
  const { running, paused, waiting, added, lastVisit } = progress;
  const button = (action: string, label: string) =>
    h("button", { type: "button", "data-action": action }, label);
  const contradictsVisit = state === "broken" && lastVisit &&
    breaks.some(({ reason }) => reason.includes(nameVisit(lastVisit)));
  return [
    paused && waiting > 0 && button("go", "Continue"),
    running && !paused && waiting > 0 && button("pause", "Pause"),
    !running && total > added && button("all", `Check the other ${formatCount(total - added)}`),
    contradictsVisit && button("forget", "Forget the last visit"),
  ];
}

/** Shows what the server reports. */
export function drawClaim({ total, intact, breaks, verifiedThrough }: ServerClaim): void {
  const verdict = intact === null ? "Unknown" : intact ? "Intact" : "Broken";
  draw("server-says", [
    h("p", { class: "big" }, verdict),
    h(
      "p",
      {},
      intact === false && `Broken positions: ${formatCount(breaks)}. `,
      verifiedThrough >= 0
        ? `Verified through #${formatCount(verifiedThrough)}.`
        : "Nothing verified yet.",
    ),
  ]);
  draw("tile-total", formatCount(total));
}
