import type { Assets } from "./assets.ts";
import { h, toHtml, type View } from "./views/mod.ts";

/** A page. */
export interface Page {
  readonly title: string;
  /** Data attributes of the body for the script, without `data-`. */
  readonly data: Readonly<Record<string, string>>;
  readonly main: View;
}

/** Prints a page as HTML. */
export function printPage({ title, data, main }: Page, assets: Assets): string {
  const { page: style, app: script, worker, icon } = assets;
  const head = h(
    "head",
    {},
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, title),
    h("link", { rel: "icon", href: icon.path, type: "image/svg+xml" }),
    h("link", { rel: "stylesheet", href: style.path, integrity: style.integrity }),
    h("script", { src: script.path, integrity: script.integrity, defer: true }),
  );
  const attributes = Object.fromEntries(
    Object.entries({ ...data, worker: worker.path }).map((
      [name, value],
    ) => [`data-${name}`, value]),
  );
  const body = h(
    "body",
    attributes,
    h("a", { class: "skip", href: "#main" }, "Skip to content"),
    header(),
    h("main", { id: "main", tabindex: -1 }, main),
    footer(),
  );
  return `<!doctype html>\n${toHtml(h("html", { lang: "en" }, head, body))}\n`;
}

const header = () =>
  h(
    "header",
    { class: "top" },
    h(
      "a",
      { class: "name", href: "/" },
      h(
        "svg",
        { viewBox: "0 0 32 32", width: 28, height: 28, "aria-hidden": "true" },
        h("path", { class: "links", d: "M9 13a5 5 0 0 1 5-5h4a5 5 0 0 1 0 10h-2" }),
        h("path", { class: "links", d: "M23 19a5 5 0 0 1-5 5h-4a5 5 0 0 1 0-10h2" }),
      ),
      h("span", {}, "sealoop ", h("span", { class: "light" }, "ledger")),
    ),
    h(
      "nav",
      { "aria-label": "Pages" },
      h("a", { href: "/#receipts" }, "Receipts"),
      h("a", { href: "/status" }, "Status"),
      h("a", { href: "/#yourself" }, "Verify it yourself"),
      h("a", { href: "/docs" }, "API"),
    ),
  );

const footer = () =>
  h(
    "footer",
    {},
    h(
      "p",
      {},
      "A receipt proves what the platform recorded, and when; not that the record is true. ",
      "This page loads nothing from elsewhere, and does not track visitors.",
    ),
  );

/** The form that finds a receipt. It works without scripts. */
export function searchForm(value = ""): View {
  return h(
    "form",
    { class: "search", action: "/find", role: "search" },
    h("label", { for: "q" }, "Find what happened"),
    h(
      "div",
      {},
      h("input", {
        id: "q",
        name: "q",
        type: "search",
        value,
        required: true,
        maxlength: 128,
        spellcheck: "false",
        autocomplete: "off",
        autocapitalize: "off",
        placeholder: "INC-…, APR-…, key, category, day, receipt",
      }),
      h("button", {}, "Find"),
    ),
  );
}
