/** Writes the snapshots of the public contract, which the tests compare: `npm run snapshots`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";
import { takeSnapshots } from "./snapshots/mod.ts";

for (const { path, text } of takeSnapshots()) writeFileSync(join(ROOT, path), text);
