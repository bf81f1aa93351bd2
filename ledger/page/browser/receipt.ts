import { passes, type Step } from "../checks/mod.ts";
import { h, showText, stepsList, type View } from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import { describeFailure, fetchKeys } from "./fetch.ts";
import type { Pool } from "./pool.ts";

/** Checks the receipt of this page, and shows each step. @param asked the id that the page is about, if any */
export async function showReceiptChecks(
  pool: Pool,
  position: number,
  asked: string | undefined,
): Promise<void> {
  show("checking", "Checking …", "This browser fetches the raw record and its neighbours.");
  fill(byId("checks-steps"), undefined);
  try {
    const published = await fetchKeys();
    const outcome = await pool.run({ task: { do: "receipt", position, asked }, ...published });
    if ("steps" in outcome) return showSteps(outcome.steps);
    fail("failed" in outcome ? outcome.failed : "The check returned nothing");
  } catch (error) {
    fail(describeFailure(error));
  }

  function fail(reason: string): void {
    show("nothing", "Not checked", reason);
    fill(byId("checks-steps"), h("button", { type: "button" }, "Try again"));
    byId("proofs").toggleAttribute("open", true);
    byId("checks-steps").querySelector("button")!
      .addEventListener("click", () => showReceiptChecks(pool, position, asked));
  }
}

function showSteps(steps: readonly Step[]): void {
  const { state, title, text } = conclude(steps);
  show(state, title, text);
  fill(byId("checks-steps"), stepsList(steps));
  if (state === "broken") byId("proofs").toggleAttribute("open", true);
}

function conclude(steps: readonly Step[]) {
  const failed = steps.filter(({ state }) => state === "fail");
  if (failed.length > 0) return { state: "broken", title: "Not valid", text: explain(failed) };
  const signature = steps.find(({ name }) => name === "Signature");
  if (signature?.state !== "pass") {
    const text = "Receipts of this era were not signed: whoever stored it could have rewritten it.";
    return { state: "part", title: "Only its link can be checked", text };
  }
  if (passes(steps)) {
    const text = "Computed by this browser from the raw record, without the server’s verdict.";
    return { state: "intact", title: "All checks passed", text };
  }
  const text = "The checks that could be made passed; see below for the others.";
  return { state: "part", title: "Partly checked", text };
}

/** Says which check failed and why, and what to do about it. */
function explain(failed: readonly Step[]): View {
  const reasons = failed.map(({ name, text }) =>
    h("li", {}, `${name}: `, showText(text, 400), ".")
  );
  return [
    "It does not prove what the sentence above says. What failed:",
    h("ul", {}, reasons),
    "Keep the raw record below, and ask the operator: a record that was damaged is put back from a backup (the ledger’s " +
    "runbook for breaks), and one that was changed is told by the same hash in anybody’s export, in a witness’s " +
    "checkpoint, or in a Bitcoin anchor.",
  ];
}

function show(state: string, title: string, text: View): void {
  byId("checks").className = `verdict ${state}`;
  fill(byId("checks-says"), [h("p", { class: "big" }, title), h("div", {}, text)]);
}
