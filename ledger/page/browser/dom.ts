import { type ElementView, isList, type View } from "../views/mod.ts";

const SVG = "http://www.w3.org/2000/svg";

/** Replaces the content of an element. The focus stays on a link with the same address. */
export function fill(element: Element, view: View): void {
  const active = document.activeElement;
  const href = active && element.contains(active) ? active.getAttribute("href") : null;
  element.replaceChildren(...toNodes(view, SVG === element.namespaceURI));
  if (href === null) return;
  for (const link of element.querySelectorAll("a")) {
    if (link.getAttribute("href") === href) return link.focus();
  }
}

/** Finds an element by its id. @throws {Error} the page has none */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element #${id}`);
  return element;
}

function toNodes(view: View, inSvg: boolean): Node[] {
  if (view === false || view === undefined) return [];
  if (typeof view === "string" || typeof view === "number") {
    return [document.createTextNode(String(view))];
  }
  return isList(view) ? view.flatMap((part) => toNodes(part, inSvg)) : [toElement(view, inSvg)];
}

function toElement({ tag, attributes, children }: ElementView, inSvg: boolean): Element {
  const isSvg = inSvg || tag === "svg";
  const element = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flatMap((child) => toNodes(child, isSvg)));
  return element;
}
