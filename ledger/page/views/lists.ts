import type { ReceiptRow, Step } from "../checks/mod.ts";
import { groupHex, showText, showTime } from "./text.ts";
import { receiptUrl, SIGNS } from "./verdict.ts";
import { h, type View } from "./view.ts";

/** Shows receipts as a table. @param caption for screen readers */
export function rowsTable(rows: readonly ReceiptRow[], caption: string): View {
  if (rows.length === 0) return h("p", { class: "quiet" }, "There are no receipts yet.");
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

function rowLine(row: ReceiptRow): View {
  const { position, id, timestamp, category, subject, outcome, verified } = row;
  const state = verified === undefined ? "not_checked" : verified ? "pass" : "fail";
  const label = { not_checked: "not checked", pass: "valid", fail: "not valid" }[state];
  return h(
    "tr",
    {},
    h(
      "td",
      { class: `sign ${state}` },
      h("span", { "aria-hidden": "true" }, SIGNS[state]),
      h("span", { class: "unseen" }, label),
    ),
    h("td", { class: "number" }, `#${position}`),
    h("td", { class: "when" }, showTime(timestamp)),
    h("td", {}, h("span", { class: "tag" }, showText(category, 40))),
    h("td", { class: "subject" }, showText(subject, 80)),
    h("td", {}, showText(outcome, 40)),
    h(
      "td",
      { class: "mono" },
      id === ""
        ? h("a", { href: `/at/${position}` }, "(no id)")
        : h("a", { href: receiptUrl(id) }, showText(id, 24)),
    ),
  );
}

/** Shows the checks of a receipt, with the values that were compared. */
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
                h("dd", {}, /^[0-9a-f]{32,}$/.test(value) ? groupHex(value) : showText(value, 400)),
              )
            ),
          ),
        ),
      )
    ),
  );
}

const OUTCOMES: Readonly<Record<Step["state"], string>> = {
  pass: "passed",
  fail: "failed",
  not_applicable: "not applicable",
  not_checked: "not checked",
  pending: "pending",
};
