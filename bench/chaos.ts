/**
 * Kills processes with -9 and shows what is lost: `npm run chaos -- loops` while incident loops run, `npm run chaos --
 * devices` while devices run commands.
 */
import { cpus, loadavg } from "node:os";
import { mochaGlobalTeardown } from "../test/_run.ts";

const KINDS = ["loops", "devices"];

const [kind = ""] = process.argv.slice(2);
if (!KINDS.includes(kind)) {
  console.error(`Cannot run ${kind || "nothing"}: say what is killed: ${KINDS.join(" or ")}`);
  process.exit(1);
}
try {
  const { run } = await import(`./chaos_${kind}.ts`) as { run(): Promise<void> };
  await run();
  const load = loadavg()[1]!.toFixed(1);
  console.log(`\n${cpus().length} cores, load of 5 minutes ${load}, Node ${process.version}`);
} finally {
  await mochaGlobalTeardown();
}
process.exit();
