/** Lists that the server and the browser both draw. */
import type { Row } from "./check.ts";
import type { Step } from "./steps.ts";
import { grouped, legible, time } from "./text.ts";
import { receiptUrl, SIGNS } from "./verdict.ts";
import { h, type View } from "./view.ts";

/** The newest receipts. @param caption what the table holds, for those who can't see where it stands */
export function rowsTable(rows: readonly Row[], caption: string): View {
  if (rows.length === 0) return h("p", { class: "quiet" }, "There is no receipt yet.");
  const head = ["", "Position", "Time", "Category", "Subject", "Outcome", "Id"];
  return h(
    "table",
    { class: "rows" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((name) =>
          h(
            "th",
            { scope: "col" },
            name === "" ? h("span", { class: "unseen" }, "Checked here") : name,
          )
        ),
      ),
    ),
    h("tbody", {}, rows.map(rowLine)),
  );
}

function rowLine(row: Row): View {
  const { position, id, timestamp, category, subject, outcome, verified } = row;
  const [state, says] = verified === undefined
    ? ["not_checked" as const, "not checked here"]
    : verified
    ? ["pass" as const, "checked here: holds"]
    : ["fail" as const, "checked here: does not hold"];
  return h(
    "tr",
    {},
    h(
      "td",
      { class: `sign ${state}` },
      h("span", { "aria-hidden": "true" }, SIGNS[state]),
      h("span", { class: "unseen" }, says),
    ),
    h("td", { class: "number" }, `#${position}`),
    h("td", { class: "when" }, time(timestamp)),
    h("td", {}, h("span", { class: "tag" }, legible(category, 40))),
    h("td", { class: "subject" }, legible(subject, 80)),
    h("td", {}, legible(outcome, 40)),
    h(
      "td",
      { class: "mono" },
      id === ""
        ? h("a", { href: `/at/${position}` }, "(no id)")
        : h("a", { href: receiptUrl(id) }, legible(id, 24)),
    ),
  );
}

/** The checks of one receipt, each with what was compared. */
export function stepsList(steps: readonly Step[]): View {
  return h(
    "ol",
    { class: "steps" },
    steps.map(({ name, state, text, compared }) =>
      h(
        "li",
        { class: state },
        h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[state]),
        h(
          "div",
          {},
          h(
            "h3",
            {},
            name,
            h("span", { class: "outcome" }, OUTCOMES[state]),
          ),
          h("p", {}, text),
          compared.length > 0 && h(
            "dl",
            { class: "compared" },
            compared.map(({ label, value }) =>
              h(
                "div",
                {},
                h("dt", {}, label),
                h("dd", {}, /^[0-9a-f]{32,}$/.test(value) ? grouped(value) : legible(value, 400)),
              )
            ),
          ),
        ),
      )
    ),
  );
}

const OUTCOMES: Readonly<Record<Step["state"], string>> = {
  pass: "holds",
  fail: "does not hold",
  not_applicable: "does not apply",
  not_checked: "not checked",
  pending: "not yet",
};
