/**
 * Runs the tests, in processes of their own, as many at once as there are cores and four more, as many tests wait:
 *
 *     npm test                  checks and all tests
 *     npm test -- -g receipts   arguments go to mocha
 *     npm run test:unit         tests without servers
 *     npm run test:system       tests with PostgreSQL, Temporal or a browser
 *     npm run test:remote       tests with programs of others, which are downloaded
 *
 * Beside so many others, a test may wait longer than it bears. Files with failed tests therefore run a second time, alone,
 * if there are only a few. What failed first stays in the output.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { listTests, type TestKind } from "./_list_tests.ts";
import { run } from "./_run.mjs";
import { check } from "./check.ts";

/** Output of the code under test; see test/_run.ts. */
const LOGS = join("node_modules", ".cache", "sealoop", "test-logs");
/** Files with failed tests; see test/_reporter.ts. */
const FAILED_TESTS = join(LOGS, "failed-tests");
/** If more files have failed tests, the cause is not how busy the machine is. */
const MAX_FILES_AGAIN = 5;

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
  process.env.FAILED_TESTS = FAILED_TESTS;
  if (kind === "unit" || kind === "remote") process.env.TEST_SERVERS = "none";
  const jobs = ["--parallel", "--jobs", String(availableParallelism() + 4)];
  let code = await run([mocha, ...jobs, ...args, ...listTests(kind)], { output: "inherit" });
  const again = code === 0 ? [] : listFailed();
  if (again.length > 0 && again.length <= MAX_FILES_AGAIN && again.every(existsSync)) {
    console.error(`  Once more, alone: ${again.join(", ")}`);
    code = await run([mocha, ...args, ...again], { output: "inherit" });
    if (code === 0) console.error("  Alone, all of them pass. What failed beside others is above.");
  }
  if (code !== 0) console.error(`  Output of the code under test is in ${LOGS}`);
  return code;
}

function listFailed(): string[] {
  if (!existsSync(FAILED_TESTS)) return []; // mocha itself failed
  const files = readFileSync(FAILED_TESTS, "utf8").trim().split("\n");
  return [...new Set(files)].map((file) => relative(process.cwd(), file));
}
