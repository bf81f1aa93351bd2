/** Runs every measurement in turn: `npm run bench`. Each prints a row, beside a bare baseline of the same run. */
import { run as loop } from "./loop.ts";
import { run as tools } from "./tools.ts";

await loop();
await tools();
process.exit(0);
