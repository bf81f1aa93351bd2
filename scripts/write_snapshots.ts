/** Writes the snapshots of the public contract, which the tests compare, and removes stale ones: `npm run snapshots`. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../config.ts";
import { listStaleSnapshots, takeSnapshots } from "./snapshots/mod.ts";

const snapshots = takeSnapshots();
for (const { path, text } of snapshots) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
}
for (const path of listStaleSnapshots(snapshots)) rmSync(join(ROOT, path));
