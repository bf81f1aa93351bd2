import { tellStory } from "../../stories/mod.ts";
import type { ListedReceipt } from "../checks/mod.ts";
import { h, pluralize, storyBody, type View } from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import { describeFailure } from "./fetch.ts";
import { checkPositions } from "./list.ts";
import type { Pool } from "./pool.ts";

/**
 * Checks the receipts of a story, and tells it anew from what was checked: a receipt that does not hold is told, and marked,
 * but the picture and the line at the top are made from those that hold.
 */
export async function showStoryChecks(
  pool: Pool,
  about: string,
  positions: readonly number[],
): Promise<void> {
  show("checking", "Checking …", "This browser fetches the raw records and their neighbours.");
  try {
    const listed = await checkPositions(pool, positions);
    const held = new Map(listed.map(({ receipt, verified }) => [receipt.position, verified]));
    const whole = tellStory(about, listed.map(({ receipt }) => receipt));
    const proven = tellStory(about, holding(listed));
    const { summary, timeline, missing } = proven;
    fill(
      byId("story"),
      storyBody(
        about,
        { ...whole, summary, timeline, missing },
        (position) => held.get(position) ? "pass" : "fail",
      ),
    );
    conclude(listed);
  } catch (error) {
    show("nothing", "Not checked", describeFailure(error));
  }
}

const holding = (listed: readonly ListedReceipt[]) =>
  listed.filter(({ verified }) => verified).map(({ receipt }) => receipt);

function conclude(listed: readonly ListedReceipt[]): void {
  const broken = listed.filter(({ verified }) => !verified);
  if (broken.length > 0) {
    const links = broken.slice(0, 20).map(({ receipt: { position } }, n) => [
      n > 0 && ", ",
      h("a", { href: `/at/${position}` }, `#${position}`),
    ]);
    return show("broken", "Not valid", [
      `Of ${pluralize(listed.length, "receipt")}, these do not hold: `,
      links,
      ". Their pages say what differs. The line and the picture below leave them out.",
    ]);
  }
  show("intact", "All receipts hold", [
    `This browser has checked ${
      pluralize(listed.length, "receipt")
    } from the raw records: hash, signature and link of `,
    "each. That none is left out, the check of the whole chain shows.",
  ]);
}

function show(state: string, title: string, text: View): void {
  byId("checks").className = `verdict ${state}`;
  byId("checks").toggleAttribute("data-checking", state === "checking");
  fill(byId("checks-says"), [h("p", { class: "big" }, title), h("p", {}, text)]);
}
