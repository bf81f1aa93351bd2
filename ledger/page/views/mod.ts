/**
 * Views that the server prints as HTML and the browser builds as elements. All text is text: nothing in a receipt can
 * become markup.
 *
 * ```ts
 * const html = toHtml(h("p", { class: "note" }, showText(subject)));
 * ```
 *
 * @module
 */
export { feed, storyBody, storyUrl } from "./feed.ts";
export { stepsList } from "./lists.ts";
export { categoryBars, daysChart } from "./plots.ts";
export {
  formatCount,
  groupHex,
  indentJson,
  pluralize,
  showStackedTime,
  showText,
  showTime,
} from "./text.ts";
export { breaksList, chainStrip, describeState, receiptUrl, SIGNS } from "./verdict.ts";
export { type ElementView, h, isList, toHtml, type View } from "./view.ts";
