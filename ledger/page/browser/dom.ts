import { isList, type Piece, type View } from "../view.ts";

const SVG = "http://www.w3.org/2000/svg";

/** Puts a view in place of what an element holds. Who was at a link stays at it. */
export function fill(element: Element, view: View): void {
  const active = document.activeElement;
  const href = active && element.contains(active) ? active.getAttribute("href") : null;
  element.replaceChildren(...nodesOf(view, SVG === element.namespaceURI));
  if (href === null) return;
  for (const link of element.querySelectorAll("a")) {
    if (link.getAttribute("href") === href) return link.focus();
  }
}

/** The element with an id. @throws where the page has none */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element;
}

function nodesOf(view: View, inSvg: boolean): Node[] {
  if (view === false || view === undefined) return [];
  if (typeof view === "string" || typeof view === "number") {
    return [document.createTextNode(String(view))];
  }
  return isList(view) ? view.flatMap((part) => nodesOf(part, inSvg)) : [elementOf(view, inSvg)];
}

function elementOf({ tag, attributes, children }: Piece, inSvg: boolean): Element {
  const isSvg = inSvg || tag === "svg";
  const element = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flatMap((child) => nodesOf(child, isSvg)));
  return element;
}
