/** What the server and the browser both draw of the chain's state. */
import type { Step } from "./steps.ts";
import type { State, Summary } from "./tally.ts";
import { count, counted, legible } from "./text.ts";
import { h, type View } from "./view.ts";

/** Address of a receipt's own page. */
export const receiptUrl = (id: string): string => `/receipt/${encodeURIComponent(id)}`;

/** What the chain's state is called, and said of it in a sentence. */
export function verdictOf(summary: Summary): { readonly title: string; readonly text: View } {
  const { state, checked, total, breaks, eras } = summary;
  const [first] = breaks;
  const old = eras[1] + eras[2];
  const weaker = old > 0 &&
    ` ${counted(old, "receipt")} of older eras can prove less: ${count(eras[1])} only their link.`;
  switch (state) {
    case "nothing":
      return total === 0
        ? { title: "Empty", text: "There is no receipt yet, so there is nothing to check." }
        : { title: "Not checked yet", text: "This browser has checked nothing so far." };
    case "part":
      return {
        title: "Not all checked",
        text: [
          `What this browser has checked holds. ${counted(total - checked, "receipt")} of ${
            count(total)
          } it has not checked.`,
          weaker,
        ],
      };
    case "intact":
      return {
        title: "Intact",
        text: [
          `This browser has checked every receipt, from the first to the newest, by itself.`,
          weaker,
        ],
      };
    case "broken":
      return {
        title: breaks.length === 1
          ? `Broken at #${count(first!.position)}`
          : `Broken at ${count(breaks.length)} positions`,
        text: "What this browser has checked does not hold:",
      };
  }
}

/** A sign for a state that does not rely on colour. */
export const SIGNS: Readonly<Record<State | Step["state"], string>> = {
  intact: "✓",
  pass: "✓",
  part: "◐",
  nothing: "○",
  not_checked: "○",
  pending: "○",
  not_applicable: "–",
  broken: "✕",
  fail: "✕",
};

const MOST_BREAKS = 20;

/** Where the chain does not hold, and why. */
export function breaksList({ breaks }: Summary): View {
  const shown = breaks.slice(0, MOST_BREAKS);
  return [
    h(
      "ul",
      { class: "breaks" },
      shown.map(({ position, reason }) =>
        h("li", {}, h("a", { href: `/at/${position}` }, `#${position}`), " ", legible(reason, 400))
      ),
    ),
    breaks.length > shown.length && h("p", {}, `… and ${count(breaks.length - shown.length)} more`),
  ];
}

const WIDTH = 1000;

/** The whole chain as a strip: which stretches of it were checked, and where it is broken. */
export function chainStrip({ ranges, breaks, total, checked }: Summary): View {
  const x = (position: number) => Math.round(position / Math.max(1, total) * WIDTH * 100) / 100;
  const label = total === 0
    ? "The chain is empty"
    : `Of positions 0 to ${total - 1}, ${count(checked)} checked, ${count(breaks.length)} broken`;
  return h(
    "svg",
    {
      class: "strip",
      viewBox: `0 0 ${WIDTH} 14`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    h("rect", { class: "unchecked", x: 0, y: 0, width: WIDTH, height: 14 }),
    ranges.map(([from, to]) =>
      h("rect", {
        class: "checked",
        x: x(from),
        y: 0,
        width: Math.max(1, x(to) - x(from)),
        height: 14,
      })
    ),
    breaks.slice(0, 1000).map(({ position }) =>
      h("rect", {
        class: "broken",
        x: Math.min(WIDTH - 5, x(position)),
        y: 0,
        width: 5,
        height: 14,
      })
    ),
  );
}
