/**
 * Runs the measurements that are named, or all, and prints one table: `npm run bench`, `npm run bench -- seal`. Every
 * figure stands beside a bare baseline that was measured in the same run.
 */
import { mochaGlobalTeardown } from "../test/_servers.ts";
import { type Figure, table } from "./_figures.ts";

const MEASUREMENTS: readonly string[] = [
  ...["seal", "log", "peers", "gateway", "tools", "loop", "verify", "ledger"],
];

const named = process.argv.slice(2);
const unknown = named.find((name) => !MEASUREMENTS.includes(name));
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}; there are ${MEASUREMENTS.join(", ")}`);
  process.exit(1);
}
const figures: Figure[] = [];
try {
  for (const name of MEASUREMENTS) {
    if (named.length > 0 && !named.includes(name)) continue;
    console.error(`  ${name} …`);
    const { run } = await import(`./${name}.ts`) as { run(): Promise<Figure[]> };
    figures.push(...await run());
  }
  console.log(table(figures));
} finally {
  await mochaGlobalTeardown();
}
process.exit(0);
