import { tellReceipt } from "../stories/mod.ts";
import { type ListQuery, printQuery, type ReadList } from "./_reading.ts";
import { feed, formatCount, h, showText, type View } from "./views/mod.ts";

/** Kinds of receipts, and what they are called. */
const KINDS: readonly (readonly [kind: string, name: string])[] = [
  ["happened", "What happened"],
  ["repairs", "Repairs"],
  ["approvals", "Approvals"],
  ["commands", "Commands"],
  ["publications", "Publications"],
  ["all", "Everything"],
];

/** Shows a list of receipts, with the ways to others. */
export function listSection(query: ListQuery, { receipts, nextBefore, total }: ReadList): View {
  const { about, category, day, before } = query;
  const kind = query.kind ?? (about || category || day ? "all" : "happened");
  const filters = [
    about &&
    chip("names", about, printQuery({ ...query, kind: "happened" }, NEWEST_WITHOUT("about"))),
    category && chip("category", category, printQuery(query, NEWEST_WITHOUT("category"))),
    day && chip("day", day, printQuery(query, NEWEST_WITHOUT("day"))),
  ];
  return h(
    "section",
    { id: "receipts", "aria-labelledby": "receipts-title" },
    h(
      "div",
      { class: "heading" },
      h("h2", { id: "receipts-title" }, titleOf(kind, query)),
      h(
        "p",
        { class: "quiet", id: "live" },
        before === undefined ? "As of page load" : `Before #${before}`,
      ),
    ),
    h(
      "nav",
      { class: "kinds", "aria-label": "Kinds of receipts" },
      KINDS.map(([name, title]) =>
        h("a", {
          href: `/?${printQuery({ kind: name, ...(day ? { day } : {}) })}#receipts`,
          ...(name === kind && !about && !category ? { "aria-current": "page" } : {}),
        }, title)
      ),
    ),
    h("p", { class: "filters" }, filters),
    h(
      "div",
      { id: "rows" },
      receipts.length === 0
        ? h("p", { class: "quiet" }, NOTHING[kind] ?? "There are no such receipts.")
        : feed(receipts.map((one) => tellReceipt(one)), () => "not_checked"),
    ),
    h(
      "p",
      { class: "pages" },
      before !== undefined &&
        h("a", { href: `/?${printQuery(query, { before: undefined })}#receipts` }, "Newest"),
      nextBefore !== null && h(
        "a",
        { href: `/?${printQuery(query, { before: String(nextBefore) })}#receipts`, rel: "next" },
        "Older",
      ),
      total !== null && h("span", { class: "quiet" }, `${formatCount(total)} in all`),
    ),
  );
}

const NOTHING: Readonly<Record<string, string>> = {
  happened:
    "Nothing has happened yet: no repair, approval, command or publication. What agents only read, and the platform's " +
    "own book-keeping, is below “Everything”.",
};

const NEWEST_WITHOUT = (name: keyof ListQuery): Partial<ListQuery> => ({
  [name]: undefined,
  before: undefined,
});

function titleOf(kind: string, { about, category, day }: ListQuery): View {
  if (about) return ["Receipts that name ", showText(about, 64)];
  if (category) {
    return ["Receipts of the category ", showText(category, 60), day ? ` on ${day}` : ""];
  }
  const title = KINDS.find(([name]) => name === kind)?.[1] ?? "Receipts";
  return day ? `${title} on ${day}` : title;
}

function chip(label: string, value: string, query: string): View {
  return h(
    "span",
    { class: "chip" },
    `${label} `,
    showText(value, 64),
    " ",
    h("a", { href: `/?${query}#receipts`, "aria-label": `Remove the filter by ${label}` }, "✕"),
  );
}
