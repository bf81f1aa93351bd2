/** Writes the parts of the docs that are made from the sources: `npm run docs`. */
import { writeFileSync } from "node:fs";
import { generateDocs } from "./docs/mod.ts";

for (const { path, text } of await generateDocs()) writeFileSync(path, text);
