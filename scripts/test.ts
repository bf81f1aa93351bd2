/**
 * Runs the tests in processes of their own: first as many at once as there are cores and four more, as many tests wait; then
 * those that start processes of the platform, kill them or drive a browser, as many at once as there are cores.
 *
 *     npm test                  checks and all tests
 *     npm test -- -g receipts   arguments go to mocha
 *     npm run test:unit         tests without servers
 *     npm run test:system       tests with PostgreSQL, Temporal or a browser
 *     npm run test:soak         the tests that have sizes (test/_size.ts), with the full ones
 *     npm run test:remote       tests with programs of others, which are downloaded
 *     npm run test:cluster      tests of a whole cluster, one after the other
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { listTests, type TestKind } from "./_list_tests.ts";
import { run } from "./_run.mjs";
import { check } from "./check.ts";

/** Output of the code under test; see test/_run.ts. */
const LOGS = join("node_modules", ".cache", "sealoop", "test-logs");

const [kind = "all", ...args] = process.argv.slice(2);
const failed = kind === "all" ? await check() : [];
const code = await runMocha(kind as TestKind, args);
if (failed.length > 0) console.error(`  These checks failed, see above: ${failed.join(", ")}`);
process.exitCode = failed.length > 0 ? 1 : code;

async function runMocha(kind: TestKind, args: readonly string[]): Promise<number> {
  const mocha = join("node_modules", "mocha", "bin", "mocha.js");
  const namesFiles = args.some((arg) => /\.ts$|[/\\]/.test(arg));
  if (namesFiles) return await run([mocha, ...args], { output: "inherit" });
  rmSync(LOGS, { recursive: true, force: true });
  mkdirSync(LOGS, { recursive: true });
  process.env.TEST_LOGS = LOGS;
  if (kind === "soak") process.env.TEST_SIZE = "full";
  if (["unit", "remote", "cluster"].includes(kind)) process.env.TEST_SERVERS = "none";
  const { many, few } = listTests(kind);
  const cores = availableParallelism();
  let code = 0;
  const atOnce = kind === "cluster" ? 1 : kind === "unit" ? cores + 2 : cores + 4;
  for (const [files, jobs] of [[many, atOnce], [few, cores]] as const) {
    if (files.length === 0) continue;
    const parallel = ["--parallel", "--jobs", String(jobs)];
    code = await run([mocha, ...parallel, ...args, ...files], { output: "inherit" }) || code;
  }
  if (code !== 0) {
    const failures = join(LOGS, "failures");
    if (existsSync(failures)) console.error(`\n${readFileSync(failures, "utf8")}`);
    console.error(`  Output of the code under test is in ${LOGS}`);
  }
  return code;
}
