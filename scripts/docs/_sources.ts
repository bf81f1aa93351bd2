import { describeObservers } from "../../judgement/observation/mod.ts";
import { pageWith, table } from "./_page.ts";

/** The table of the sources of observations in `docs/incidents.md`. */
export const sourcesPage = pageWith(
  "docs/incidents.md",
  "sources",
  () =>
    table(
      ["source", "what it does"],
      describeObservers().map(({ source, about }) => [`\`${source}\``, about]),
    ),
);
