import { stepsList } from "../lists.ts";
import { holds, type Step } from "../steps.ts";
import { h, type View } from "../view.ts";
import { byId, fill } from "./dom.ts";
import { fetchPublished, NotAnswered } from "./export.ts";
import type { Pool } from "./pool.ts";

/** Has the receipt of this page checked, and shows each step. @param asked id that the page is about */
export async function checkReceipt(
  pool: Pool,
  position: number,
  asked: string | undefined,
): Promise<void> {
  show("checking", "Checking …", "This browser fetches the raw record and its neighbours.");
  fill(byId("checks-steps"), undefined);
  try {
    const published = await fetchPublished();
    const outcome = await pool.run({ task: { do: "receipt", position, asked }, ...published });
    if ("steps" in outcome) return showSteps(outcome.steps);
    fail("failed" in outcome ? outcome.failed : "The check gave nothing");
  } catch (error) {
    fail(error instanceof NotAnswered ? error.message : `The check itself failed: ${error}`);
  }

  function fail(reason: string): void {
    show("nothing", "Not checked", reason);
    fill(byId("checks-steps"), h("button", { type: "button" }, "Try again"));
    byId("checks-steps").querySelector("button")!
      .addEventListener("click", () => checkReceipt(pool, position, asked));
  }
}

function showSteps(steps: readonly Step[]): void {
  const { state, title, text } = conclusion(steps);
  show(state, title, text);
  fill(byId("checks-steps"), stepsList(steps));
}

function conclusion(steps: readonly Step[]) {
  const failed = steps.filter(({ state }) => state === "fail");
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name.toLowerCase()).join(", ");
    return { state: "broken", title: "It does not hold", text: `What does not hold: ${names}.` };
  }
  const signature = steps.find(({ name }) => name === "Signature");
  if (signature?.state !== "pass") {
    const text = "It is of an era that signed nothing: whoever kept it could have written it anew.";
    return { state: "part", title: "Only its link can be checked", text };
  }
  return holds(steps)
    ? {
      state: "intact",
      title: "Every check holds",
      text: "Computed by this browser from the raw record, without the server’s verdict.",
    }
    : {
      state: "part",
      title: "Not all checked",
      text: "What could be checked holds; see below for what could not.",
    };
}

function show(state: string, title: string, text: View): void {
  byId("checks").className = `verdict ${state}`;
  fill(byId("checks-says"), [h("p", { class: "big" }, title), h("p", {}, text)]);
}
