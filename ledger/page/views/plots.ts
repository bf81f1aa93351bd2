import { formatCount, pluralize, showText } from "./text.ts";
import { h, type View } from "./view.ts";

const MAX_BARS = 12;

/** Shows receipts by category, most frequent first. Each leads to the list of its receipts. */
export function categoryBars(counts: readonly (readonly [name: string, n: number])[]): View {
  const sorted = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const shown = sorted.slice(0, MAX_BARS);
  const rest = sorted.slice(MAX_BARS).reduce((sum, [, n]) => sum + n, 0);
  const max = shown[0]?.[1] ?? 1;
  return h(
    "table",
    { class: "bars" },
    h("caption", { class: "unseen" }, "Receipts by category"),
    h(
      "thead",
      { class: "unseen" },
      h("tr", {}, h("th", { scope: "col" }, "Category"), h("th", { scope: "col" }, "Receipts")),
    ),
    h(
      "tbody",
      {},
      shown.map(([name, n]) => bar(name === "" ? "(none)" : linkTo(name), n, max)),
      rest > 0 && bar("all others", rest, max),
    ),
  );
}

const linkTo = (category: string) =>
  h(
    "a",
    { href: `/?category=${encodeURIComponent(category)}#receipts` },
    showText(category, 40),
  );

function bar(name: View, n: number, max: number): View {
  const width = Math.max(0.5, Math.min(100, n / max * 100)).toFixed(1);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h(
      "td",
      {},
      h(
        "svg",
        { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        h("rect", { width, height: 8 }),
      ),
      h("span", { class: "number" }, formatCount(n)),
    ),
  );
}

const DAY_MS = 86_400_000;
const DAYS = 30;

/** Subject of a chart of days, and where a day leads. */
interface Counted {
  readonly noun: string;
  readonly hrefOf: (day: string) => string;
}

const RECEIPTS: Counted = {
  noun: "receipt",
  hrefOf: (day) => `/?kind=all&day=${day}#receipts`,
};

/**
 * Shows receipts, or something else, per day for the thirty days up to the newest one.
 *
 * @param today like `2026-07-01`; receipts that claim a later day are left out
 */
export function daysChart(
  days: ReadonlyMap<string, number>,
  today: string,
  { noun, hrefOf }: Counted = RECEIPTS,
): View {
  const known = [...days.keys()].filter((day) => day <= today && !Number.isNaN(Date.parse(day)));
  const last = known.filter((day) => /^\d{4}-\d\d-\d\d$/.test(day)).sort().at(-1);
  if (!last) return h("p", { class: "quiet" }, "Nothing counted yet.");
  const end = Date.parse(`${last}T00:00:00Z`);
  const shown = Array.from({ length: DAYS }, (_, n) => {
    const day = new Date(end - (DAYS - 1 - n) * DAY_MS).toISOString().slice(0, 10);
    return [day, days.get(day) ?? 0] as const;
  });
  const max = Math.max(1, ...shown.map(([, n]) => n));
  const sum = shown.reduce((all, [, n]) => all + n, 0);
  return h(
    "figure",
    { class: "days" },
    h(
      "svg",
      {
        viewBox: "0 0 300 72",
        preserveAspectRatio: "none",
        role: "group",
        "aria-label": `${pluralize(sum, noun)} from ${shown[0]![0]} to ${last}; at most ${
          formatCount(max)
        } a day`,
      },
      shown.map(([day, n], i) => {
        const height = n === 0 ? 2 : Math.max(2, n / max * 70);
        const rect = {
          class: n === 0 ? "none" : "some",
          x: i * 10 + 1,
          y: 72 - height,
          width: 8,
          height,
        };
        const says = `${day}: ${pluralize(n, noun)}`;
        return n === 0 ? h("rect", rect) : h(
          "a",
          { href: hrefOf(day), "aria-label": says },
          h("rect", rect, h("title", {}, says)),
        );
      }),
    ),
    h(
      "figcaption",
      {},
      h("span", {}, shown[0]![0]),
      h("span", {}, `at most ${formatCount(max)} a day`),
      h("span", {}, last),
    ),
  );
}
