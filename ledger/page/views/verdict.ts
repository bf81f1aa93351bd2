import type { CheckState, CheckSummary, Step } from "../checks/mod.ts";
import { formatCount, pluralize, showText } from "./text.ts";
import { h, type View } from "./view.ts";

/** Returns the address of a receipt's page. */
export const receiptUrl = (id: string): string => `/receipt/${encodeURIComponent(id)}`;

/** Describes the state of the chain by a title and a sentence. */
export function describeState(
  summary: CheckSummary,
): { readonly title: string; readonly text: View } {
  const { state, checked, total, breaks, eras, absent, unproven } = summary;
  const [first] = breaks;
  const old = eras[1] + eras[2];
  const weaker = old > 0 &&
    ` ${pluralize(old, "receipt")} of older eras can prove less: ${
      formatCount(eras[1])
    } only their link.`;
  const adopted = unproven !== undefined &&
    ` Unproven from #${
      formatCount(unproven)
    }: a new key adopted the receipts before, and this browser does not know it.`;
  switch (state) {
    case "nothing":
      return total === 0
        ? { title: "Empty", text: "There are no receipts yet." }
        : { title: "Not checked yet", text: "This browser has not checked anything yet." };
    case "part":
      return {
        title: "Partly checked",
        text: [
          `All receipts checked so far are valid. ${formatCount(total - checked)} of ${
            formatCount(total)
          } are not checked.`,
          weaker,
          adopted,
        ],
      };
    case "unproven":
      return {
        title: "Cannot be told",
        text: [
          "Something that you have pinned is not there: ",
          showText(absent.join("; "), 1000),
          ".",
        ],
      };
    case "intact":
      return {
        title: "Intact",
        text: [
          "This browser has checked every receipt, from the first to the newest.",
          weaker,
          adopted,
        ],
      };
    case "broken":
      return {
        title: breaks.length === 1
          ? `Broken at #${formatCount(first!.position)}`
          : `Broken at ${formatCount(breaks.length)} positions`,
        text: "This browser has found:",
      };
  }
}

/** Signs for states, so that colour is not the only difference. */
export const SIGNS: Readonly<Record<CheckState | Step["state"], string>> = {
  intact: "✓",
  pass: "✓",
  part: "◐",
  unproven: "○",
  nothing: "○",
  not_checked: "○",
  pending: "○",
  not_applicable: "–",
  broken: "✕",
  fail: "✕",
};

const MAX_BREAKS = 20;

/** Shows where the chain is broken, and why. */
export function breaksList({ breaks }: CheckSummary): View {
  const shown = breaks.slice(0, MAX_BREAKS);
  return [
    h(
      "ul",
      { class: "breaks" },
      shown.map(({ position, reason }) =>
        h("li", {}, h("a", { href: `/at/${position}` }, `#${position}`), " ", showText(reason, 400))
      ),
    ),
    breaks.length > shown.length &&
    h("p", {}, `… and ${formatCount(breaks.length - shown.length)} more`),
  ];
}

const WIDTH = 1000;

/** Shows the whole chain as a strip: the ranges that were checked, and the breaks. */
export function chainStrip({ ranges, breaks, total, checked }: CheckSummary): View {
  const x = (position: number) => Math.round(position / Math.max(1, total) * WIDTH * 100) / 100;
  const label = total === 0
    ? "The chain is empty"
    : `Of positions 0 to ${total - 1}, ${formatCount(checked)} checked, ${
      formatCount(breaks.length)
    } broken`;
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
