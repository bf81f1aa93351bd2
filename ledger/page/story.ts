import { isName, tellStory } from "../stories/mod.ts";
import type { Call } from "./_answers.ts";
import { readList } from "./_reading.ts";
import { show, showUnknown, type SiteResponse } from "./_responses.ts";
import { searchForm } from "./shell.ts";
import { h, storyBody, type View } from "./views/mod.ts";

/** Receipts of a story; of a longer one the oldest are left out. */
const MAX_RECEIPTS = 200;
/** Ids of what does things for years: their receipts are a list, and no story. */
const LISTED = /^(?:key:|DEV-)/;
const SUBJECTS: Readonly<Record<string, string>> = {
  INC: "Incident",
  APR: "Approval",
  CMD: "Command",
  ART: "Article",
  ITEM: "Publication",
};

/** Shows what receipts tell of an id. */
export async function showStory(call: Call, about: string): Promise<SiteResponse> {
  if (!isName(about)) return showUnknown(about);
  if (LISTED.test(about)) return { location: `/?about=${encodeURIComponent(about)}#receipts` };
  const { receipts, nextBefore } = await readList(call, { about }, MAX_RECEIPTS);
  const subject = SUBJECTS[about.split("-")[0]!] ?? "Receipts about";
  if (receipts.length === 0) return showNothing(about, subject);
  const oldestFirst = receipts.toReversed();
  const main: View = [
    h("h1", { class: "receipt" }, `${subject} `, h("span", { class: "id" }, about)),
    h(
      "section",
      { id: "checks", class: "verdict nothing", "aria-labelledby": "checks-by" },
      h("h2", { id: "checks-by", class: "by" }, "Checked by this browser"),
      h(
        "div",
        { id: "checks-says", "aria-live": "polite" },
        h("p", { class: "big" }, "Not checked"),
        h("p", {}, "This browser has not checked these receipts yet."),
      ),
      h("noscript", {}, h("p", {}, "Scripts are disabled, so that nothing is checked here.")),
      h("p", { id: "verdict-trust", class: "quiet" }),
    ),
    nextBefore !== null && h(
      "p",
      { class: "note" },
      `It has more than ${MAX_RECEIPTS} receipts; the oldest are left out here. `,
      h("a", { href: `/?about=${about}#receipts` }, "All of them"),
    ),
    h(
      "section",
      { id: "story", "aria-label": "What happened" },
      storyBody(about, tellStory(about, oldestFirst), () => "not_checked"),
    ),
    h(
      "p",
      { class: "quiet" },
      "The sentences are made from the public fields of the receipts, by the same rules here and in your browser. Names " +
        "of services, machines and people are in no receipt. ",
      h("a", { href: `/api/receipts?about=${about}` }, "The receipts as JSON"),
      ".",
    ),
  ];
  const positions = oldestFirst.map(({ position }) => position).join(" ");
  return show(`${subject} ${about}`, main, { page: "story", about, positions });
}

function showNothing(about: string, subject: string): SiteResponse {
  const title = `No receipt names ${about}`;
  return show(
    title,
    [
      h("h1", {}, title),
      h(
        "p",
        { class: "lead" },
        `${
          subject === "Incident" ? "An incident" : "What has such an id"
        } is here once its first receipt is sealed, mostly ` +
          "within a second. The id may be mistyped, or be of another platform.",
      ),
      searchForm(about),
    ],
    {},
    404,
  );
}
