/**
 * What a page shows, as a tree that the server prints and the browser builds, so that both draw the same receipt by the
 * same lines. All text is text: nothing in a receipt can become markup.
 */

/** A part of a page; false and undefined are nothing. */
export type View = string | number | Piece | readonly View[] | false | undefined;

/** An element. */
export interface Piece {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly children: readonly View[];
}

/** True is an attribute without a value; false and undefined are none. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element. @param tag of HTML or SVG; as the attributes' names, never taken from a receipt */
export function h(tag: string, attributes: Attributes = {}, ...children: View[]): Piece {
  return { tag, attributes, children };
}

/** Elements that have no end. */
const VOID = new Set(["br", "hr", "img", "input", "link", "meta", "wbr"]);
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Prints a view as HTML. */
export function toHtml(view: View): string {
  if (view === false || view === undefined) return "";
  if (typeof view === "string" || typeof view === "number") return escape(String(view));
  if (isList(view)) return view.map(toHtml).join("");
  const { tag, attributes, children } = view;
  const start = `<${tag}${Object.entries(attributes).map(printAttribute).join("")}>`;
  return VOID.has(tag) ? start : `${start}${children.map(toHtml).join("")}</${tag}>`;
}

/** Whether a view is several ones. */
export const isList = (view: Piece | readonly View[]): view is readonly View[] =>
  Array.isArray(view);

function printAttribute([name, value]: [string, Attributes[string]]): string {
  if (value === false || value === undefined) return "";
  return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
}

const escape = (text: string) =>
  text.toWellFormed().replace(/[&<>"']/g, (character) => ESCAPES[character]!);
