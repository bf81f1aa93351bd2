import { Problem } from "../../contract/mod.ts";
import { messagePage } from "./receipt.ts";
import { type Page, searchForm } from "./shell.ts";
import { h, showText, type View } from "./views/mod.ts";

/** A page, or the address of another one. */
export type SiteResponse = { readonly status: number; readonly page: Page } | {
  readonly location: string;
};

/** Maximum characters of what a visitor has entered. */
export const MAX_ENTERED = 128;

/** Answers with a page. */
export const show = (
  title: string,
  main: View,
  data: Page["data"] = {},
  status = 200,
): SiteResponse => ({
  status,
  page: { title: `${title} · sealoop ledger`, main, data },
});

/** Answers that there is no such receipt. */
export function showUnknown(entered: string): SiteResponse {
  const message = messagePage("No such receipt", [
    "There is no receipt ",
    h("code", {}, showText(entered, MAX_ENTERED)),
    ". Enter an id or a hash, or at least their first 8 characters.",
  ]);
  return show("No such receipt", [message, searchForm(entered)], {}, 404);
}

/** Answers that what was entered is in no receipt, as it is private, and where it can be looked for. */
export function showPrivate(entered: string): SiteResponse {
  const message = messagePage("Names are private here", [
    "No public field of a receipt is ",
    h("code", {}, showText(entered, MAX_ENTERED)),
    ". If it is the name of a service, a machine, a person or an organization, it is in no receipt by design: a receipt " +
    "has only a salted commitment to such texts, from which nobody can guess them. That this page finds nothing says " +
    "nothing about whether something happened. Operators find an incident by its service in the console, and its id " +
    "(INC-…) here.",
  ]);
  return show("Names are private here", [message, searchForm(entered)], {}, 404);
}

/** Shows a problem as a page. */
export function showProblem(error: unknown): SiteResponse {
  if (!(error instanceof Problem)) throw error;
  const status = error.name === "InvalidInput" ? 422 : error.rule.status;
  if (status === 503) {
    const title = "The ledger is unavailable";
    const text =
      "Its database cannot be reached, so the state of the chain is unknown. The page will try again.";
    return show(title, [messagePage(title, text), searchForm()], { page: "away" }, status);
  }
  const title = "Cannot show this";
  return show(title, [messagePage(title, showText(error.message, 1000)), searchForm()], {}, status);
}
