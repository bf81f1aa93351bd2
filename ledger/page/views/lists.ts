import type { Step } from "../checks/mod.ts";
import { groupHex, showText } from "./text.ts";
import { SIGNS } from "./verdict.ts";
import { h, type View } from "./view.ts";

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
