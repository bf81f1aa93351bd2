import { isName, planTimeline, type Sentence, type Story } from "../../stories/mod.ts";
import { h, type View } from "./view.ts";
import { showText, showTime } from "./text.ts";
import { receiptUrl, SIGNS } from "./verdict.ts";

/** Whether a receipt holds: checked here, checked and not so, or not checked. */
type FeedState = "pass" | "fail" | "not_checked";

const LABELS: Readonly<Record<FeedState, string>> = {
  pass: "valid",
  fail: "not valid",
  not_checked: "not checked",
};
const PAGES: Readonly<Record<string, string>> = { INC: "incidents", APR: "approvals" };

/** Returns the address of what receipts say of an id. */
export function storyUrl(name: string): string {
  return `/${PAGES[name.split("-")[0]!] ?? "about"}/${encodeURIComponent(name)}`;
}

/** Shows what receipts tell, one sentence each, with its receipt and the ids that it names. */
export function feed(
  sentences: readonly Sentence[],
  stateOf: (position: number) => FeedState,
  about = "",
): View {
  return h(
    "ol",
    { class: "feed" },
    sentences.map((one) => feedLine(one, stateOf(one.position), about)),
  );
}

function feedLine(
  { receipt, position, at, text, quote, names }: Sentence,
  state: FeedState,
  about: string,
): View {
  const others = names.filter((name) => name !== about);
  return h(
    "li",
    { class: state, "data-position": position },
    h("span", { class: `sign ${state}`, "aria-hidden": "true" }, SIGNS[state]),
    h("span", { class: "unseen" }, `${LABELS[state]}: `),
    h("span", { class: "when" }, at === "" ? "no time" : showTime(at)),
    h(
      "div",
      { class: "says" },
      h("p", {}, showText(text, 600)),
      quote !== "" && h("blockquote", {}, showText(quote, 600)),
      h(
        "p",
        { class: "quiet" },
        h("a", { href: receipt === "" ? `/at/${position}` : receiptUrl(receipt) }, `#${position}`),
        others.filter(isName).map((name) => [" · ", h("a", { href: storyUrl(name) }, name)]),
      ),
    ),
  );
}

/** Shows a story: in one line, as a picture of what took how long, in sentences, and what it can't tell. */
export function storyBody(
  about: string,
  { summary, sentences, mentions, missing, timeline }: Story,
  stateOf: (position: number) => FeedState,
): View {
  return [
    h("p", { class: "summary" }, showText(summary, 3000)),
    timelinePicture(timeline),
    missing.length > 0 && h(
      "ul",
      { class: "note" },
      missing.map((text) => h("li", {}, showText(text, 400))),
    ),
    sentences.length > 0 && feed(sentences, stateOf, about),
    mentions.length > 0 && h(
      "section",
      { "aria-labelledby": "mentions-title" },
      h("h2", { id: "mentions-title" }, "Named elsewhere"),
      h(
        "p",
        { class: "quiet" },
        "Receipts of something else that name it. They are no part of what happened here.",
      ),
      feed(mentions, stateOf, about),
    ),
  ];
}

/** Draws what took how long. */
function timelinePicture(timeline: Story["timeline"]): View {
  const plan = planTimeline(timeline);
  if (!plan) return undefined;
  return h(
    "figure",
    { class: "timeline" },
    h("figcaption", {}, `What took how long, ${plan.took} in all, as the receipt of its end says`),
    h(
      "table",
      {},
      h("caption", { class: "unseen" }, plan.says),
      h(
        "tbody",
        {},
        plan.lines.map(({ name, from, share, took }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            h(
              "td",
              {},
              h(
                "svg",
                { viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" },
                h("rect", { class: "line", width: 1000, height: 10 }),
                h("rect", {
                  class: "step",
                  x: Math.min(996, Math.round(from * 1000)),
                  width: Math.max(4, Math.round(share * 1000)),
                  height: 10,
                }),
              ),
            ),
            h("td", { class: "number" }, took),
          )
        ),
      ),
    ),
  );
}
