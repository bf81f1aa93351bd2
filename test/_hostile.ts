/** Texts that try to become a part of the page that shows them. */
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";

const STEAL = "document.title='stolen'";

/** One of each kind: elements, handlers, addresses, marks of Markdown, templates, ends of the element around. */
export const HOSTILE: readonly string[] = [
  `<img src=x onerror="${STEAL}">`,
  `<script>${STEAL}</script>`,
  `"><svg onload=${STEAL}>`,
  `' onmouseover='${STEAL}' autofocus onfocus='${STEAL}`,
  `</pre></textarea></title></style><script>${STEAL}</script>`,
  `<iframe srcdoc="<script>parent.${STEAL}</script>"></iframe>`,
  `<a href="javascript:${STEAL}">here</a>`,
  `[here](javascript:${STEAL})`,
  `![here](https://evil.example/x.png "${STEAL}")`,
  `<form action="https://evil.example"><input name=link></form>`,
  `<style>main{display:none}</style><base href="https://evil.example/">`,
  `javascript:${STEAL}`,
  `{{constructor.constructor("${STEAL}")()}}`,
  `{"__html":"<b>${STEAL}</b>"}`,
];

/** Selects what such a text becomes where it is more than text. */
const MADE = [
  "[onerror], [onload], [onmouseover], [onfocus], [action*='evil.example']",
  "a[href^='javascript:' i], [href*='evil.example'], [src*='evil.example'], [srcdoc]",
  "body :is(img[src=x], script:not([src]), iframe, base, style), main b",
].join();

/** All of them as one text. */
export const HOSTILE_TEXT: string = HOSTILE.join(" ");

/**
 * Fails where a page has made anything of a hostile text but text: an element, a handler, an address, a title.
 *
 * @param problems of the page; requests that were refused by a policy are among them
 */
export async function assertHarmless(
  page: Page,
  problems: readonly string[],
  where: string,
): Promise<void> {
  assert.doesNotMatch(await page.title(), /^stolen$/, where);
  const made = await page.evaluate(
    `[...document.querySelectorAll(${
      JSON.stringify(MADE)
    })].map((one) => one.outerHTML.slice(0, 200))`,
  );
  assert.deepEqual(made, [], where);
  assert.deepEqual(
    problems.filter((one) => /^(console: policy|exception|request: \w+:\/\/[\w.]*evil)/.test(one)),
    [],
    where,
  );
}
