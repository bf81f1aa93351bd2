/**
 * Runs measurements and prints one table: `npm run bench` for all that are compared with a baseline,
 * `npm run bench -- seal` for those that are named.
 *
 * Environment: `ROUNDS` replaces the number of rounds of every measurement; `SCALE` (0 to 1) is the share of their work
 * that is done. With `SCALE=0.1 ROUNDS=1` a measurement shows that it runs, and its figures mean nothing.
 */
import { cpus, loadavg } from "node:os";
import { mochaGlobalTeardown } from "../test/_run.ts";
import { type Figure, formatRow, formatTable } from "./_figures.ts";

/** Measurements by name, in the order that they run. */
const MEASUREMENTS: Readonly<Record<string, { readonly inAll: boolean }>> = {
  seal: { inAll: true },
  signer: { inAll: true },
  log: { inAll: true },
  peers: { inAll: true },
  gateway: { inAll: true },
  tools: { inAll: true },
  sessions: { inAll: true },
  loop: { inAll: true },
  verify: { inAll: true },
  ledger: { inAll: true },
  cmdb: { inAll: true },
  detection: { inAll: true },
  console: { inAll: false },
  classify: { inAll: true },
  retrieval: { inAll: true },
  governance: { inAll: true },
  tenants: { inAll: true },
  devices: { inAll: true },
  dispatch: { inAll: true },
  temporal: { inAll: false },
  mail: { inAll: false },
  parsing: { inAll: true },
  media: { inAll: false },
  open_loops: { inAll: false },
  cost: { inAll: false },
};

/** A file of a measurement. One without figures prints its own result. */
interface Measurement {
  run(): AsyncGenerator<Figure> | Promise<void>;
}

const named = process.argv.slice(2);
const unknown = named.find((name) => !Object.hasOwn(MEASUREMENTS, name));
if (unknown !== undefined) {
  const names = Object.keys(MEASUREMENTS).join(", ");
  console.error(`Cannot run ${unknown}: there is no such measurement; there are ${names}`);
  process.exit(1);
}
const figures: Figure[] = [];
try {
  for (const [name, { inAll }] of Object.entries(MEASUREMENTS)) {
    if (named.length > 0 ? !named.includes(name) : !inAll) continue;
    console.error(`  ${name} …`);
    const { run } = await import(`./${name}.ts`) as Measurement;
    for await (const figure of await run() ?? []) {
      console.error(`  ${formatRow(figure).slice(0, 4).join("  ")}`);
      figures.push(figure);
    }
  }
  if (figures.length > 0) console.log(formatTable(figures));
  const load = loadavg()[1]!.toFixed(1);
  console.log(`\n${cpus().length} cores, load of 5 minutes ${load}, Node ${process.version}`);
} finally {
  await mochaGlobalTeardown();
}
process.stdout.write("", () => process.exit());
