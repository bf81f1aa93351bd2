/** A part of a page; false and undefined show nothing. */
export type View = string | number | ElementView | readonly View[] | false | undefined;

/** An element. */
export interface ElementView {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly children: readonly View[];
}

/** Attributes of an element: true has no value; false and undefined are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element of HTML or SVG. Tags and names of attributes must not come from receipts. */
export function h(tag: string, attributes: Attributes = {}, ...children: View[]): ElementView {
  return { tag, attributes, children };
}

/** Elements without an end tag. */
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

/** Returns true for a list of views. */
export const isList = (view: ElementView | readonly View[]): view is readonly View[] =>
  Array.isArray(view);

function printAttribute([name, value]: [string, Attributes[string]]): string {
  if (value === false || value === undefined) return "";
  return value === true ? ` ${name}` : ` ${name}="${escape(String(value))}"`;
}

const escape = (text: string) =>
  text.toWellFormed().replace(/[&<>"']/g, (character) => ESCAPES[character]!);
