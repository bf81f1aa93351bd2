import { type ComponentChildren, h } from "preact";
import { isList, type View } from "../../ledger/page/views/mod.ts";

/** Shows a view of the ledger's pages, such as a plot. */
export function showView(view: View): ComponentChildren {
  if (typeof view !== "object") return view;
  if (isList(view)) return view.map(showView);
  return h(view.tag, view.attributes as object, view.children.map(showView));
}
