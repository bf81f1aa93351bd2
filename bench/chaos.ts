/**
 * Disturbs the platform and shows what is lost: `npm run chaos -- loops` kills processes with -9 while incident loops run,
 * `devices` while devices run commands; `rechecks 60` seals for 60 minutes beside rechecks of the whole chain; `outages 6 20`
 * cuts a worker from the database six times for 20 seconds; `causes` breaks services, and looks whether the cause is named;
 * `places 100` breaks services of three places, and looks who repairs them.
 */
import { cpus, loadavg } from "node:os";
import { mochaGlobalTeardown } from "../test/_run.ts";

const KINDS = ["loops", "devices", "rechecks", "outages", "causes", "places"];

const [kind = "", ...args] = process.argv.slice(2);
if (!KINDS.includes(kind)) {
  console.error(`Cannot run ${kind || "nothing"}: say one of ${KINDS.join(", ")}`);
  process.exit(1);
}
try {
  const { run } = await import(`./chaos_${kind}.ts`) as {
    run(args: readonly string[]): Promise<void>;
  };
  await run(args);
  const load = loadavg()[1]!.toFixed(1);
  console.log(`\n${cpus().length} cores, load of 5 minutes ${load}, Node ${process.version}`);
} finally {
  await mochaGlobalTeardown();
}
process.stdout.write("", () => process.exit());
