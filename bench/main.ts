/**
 * Runs the measurements that are named, or all, and prints one table: `npm run bench`, `npm run bench -- seal`. Every
 * figure stands beside a bare baseline that was measured in the same run.
 */
import { cpus, loadavg } from "node:os";
import { mochaGlobalTeardown } from "../test/_run.ts";
import { type Figure, row, table } from "./_figures.ts";

const MEASUREMENTS: readonly string[] = [
  ...["seal", "log", "peers", "gateway", "tools", "sessions", "loop", "verify", "ledger", "cmdb"],
  ...["detection", "classify", "retrieval", "governance", "temporal", "chaos", "open_loops"],
];
/** Only when they are named: they don't compare the house with anything. */
const NOT_OF_ALL: readonly string[] = ["temporal", "chaos", "open_loops"];

/** What a measurement exports; one that is no figures prints its own table. */
interface Measurement {
  run(): AsyncGenerator<Figure> | Promise<readonly Figure[]>;
}

const named = process.argv.slice(2);
const unknown = named.find((name) => !MEASUREMENTS.includes(name));
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}; there are ${MEASUREMENTS.join(", ")}`);
  process.exit(1);
}
const figures: Figure[] = [];
try {
  for (const name of MEASUREMENTS) {
    if (named.length > 0 ? !named.includes(name) : NOT_OF_ALL.includes(name)) continue;
    console.error(`  ${name} …`);
    const { run } = await import(`./${name}.ts`) as Measurement;
    for await (const figure of await run()) {
      console.error(`  ${row(figure).slice(0, 4).join("  ")}`);
      figures.push(figure);
    }
  }
  const load = loadavg()[1]!.toFixed(1);
  if (figures.length > 0) console.log(table(figures));
  console.log(`\n${cpus().length} cores, load of 5 minutes ${load}, Node ${process.version}`);
} finally {
  await mochaGlobalTeardown();
}
process.exit();
