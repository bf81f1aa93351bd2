/**
 * Builds `dist/` from the sources: the programs, each bundled into one file, the files of the ledger's page, and the
 * bundle of the workflows. Does nothing where `dist/` is up to date.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./_run.mjs";
import { step } from "./_step.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");
const CACHE = join(ROOT, "node_modules", ".cache", "sealoop");
const AGENT = join(ROOT, "agent", "sources");
/** Pages: folder of their sources → what they load. */
const PAGES = {
  "ledger/page": ["app.ts", "worker.ts", "page.css", "icon.svg"],
  console: [
    "app.tsx",
    "approval.tsx",
    "incident.tsx",
    "governance.tsx",
    "setup.tsx",
    "console.css",
    "../../ledger/page/browser/icon.svg",
  ],
};
/** Folders without sources of programs. */
const NOT_SOURCE = new Set(["node_modules", "dist", "test", "bench", "evals", "docs"]);
const SOURCE = /\.(tsx?|css|svg|mjs|py)$/;
/** Programs, by their paths: all of them processes or commands, or named `…_program.ts`, or `…_worker.ts` if threads. */
const PROGRAM = /^(main|processes\/(commands\/)?(?!mod\b)[a-z]\w*|.*_(program|worker))\.ts$/;
const REDOC = ["bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt", "LICENSE"];
/** Stands in the agent's sources for what it shares with the ledger's verifier. */
const SHARED_LINE = /^# \{\{answers of passkeys\}\}$/m;
const DAY_MS = 86_400_000;

/** Builds what is not up to date. */
export async function build() {
  const sources = listFiles(ROOT).filter((path) => SOURCE.test(path));
  const stamp = digest(
    [...sources, join(ROOT, "package-lock.json")].map((path) => {
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    }),
  );
  const stampFile = join(DIST, ".stamp");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const fresh = `${DIST}.new-${process.pid}`;
  await step("Programs", () => buildPrograms(sources, fresh));
  copyRedoc(join(fresh, "web", "redoc"));
  joinAgent(join(fresh, "agent"));
  await step("Workflows", () => buildWorkflows(join(fresh, "workflow-bundle.js")));
  writeFileSync(join(fresh, ".stamp"), stamp);
  const old = `${DIST}.old-${process.pid}`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(fresh, DIST);
  rmSync(old, { recursive: true, force: true });
  await step("Classifier", trainClassifier);
}

/** Bundles each program into one file: a start that loads hundreds of files takes a fifth longer. */
async function buildPrograms(sources, folder) {
  const esbuild = await import("esbuild");
  const paths = sources.map((path) => relative(ROOT, path).replaceAll("\\", "/"));
  const programs = paths.filter((path) => PROGRAM.test(path));
  try {
    await Promise.all([
      esbuild.build({
        absWorkingDir: ROOT,
        entryPoints: programs,
        outdir: folder,
        outbase: ROOT,
        bundle: true,
        packages: "external",
        platform: "node",
        format: "esm",
        target: "node20",
        logLevel: "warning",
      }),
      ...Object.entries(PAGES).map(([page, names]) => buildPage(esbuild, page, names, folder)),
    ]);
  } catch {
    rmSync(folder, { recursive: true, force: true });
    throw new Error("The sources cannot be bundled; what is wrong is above");
  } finally {
    await esbuild.stop(); // or its process would live as long as this one
  }
  return `${programs.length} bundled`;
}

/** Bundles what pages load, each file with a hash of its content in its name. */
function buildPage(esbuild, source, names, folder) {
  return esbuild.build({
    entryPoints: names.map((name) => join(ROOT, source, "browser", name)),
    outdir: join(folder, source, "assets"),
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome111", "firefox128", "safari17"],
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".svg": "copy" },
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
}

/** Joins the sources of the device agent into its one file, in the order of their numbers. */
function joinAgent(folder) {
  const sources = readdirSync(AGENT).sort().map((name) =>
    readFileSync(join(AGENT, name), "utf8").replace(SHARED_LINE, readShared)
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "sealoop_agent.py"), sources.join(""));
}

/** Returns what the agent shares with the ledger's verifier, between its two marks. */
function readShared() {
  const verifier = readFileSync(join(ROOT, "ledger", "verify_ledger.py"), "utf8");
  const shared = /^# Answers of passkeys: .*\n\n\n([^]*?)\n\n# Up to here\.$/m.exec(verifier);
  if (!shared) throw new Error("ledger/verify_ledger.py has no marked lines that the agent shares");
  return shared[1];
}

/** Copies what is served of a package that is needed for nothing else. */
function copyRedoc(folder) {
  mkdirSync(folder, { recursive: true });
  for (const path of REDOC) {
    copyFileSync(join(ROOT, "node_modules", "redoc", path), join(folder, basename(path)));
  }
}

/** Bundles the workflows for Temporal's sandbox. That takes seconds, so bundles are kept by a hash of their sources. */
async function buildWorkflows(file) {
  const entry = join(ROOT, "workflows", "mod.ts");
  const converters = join(ROOT, "workflows", "_converters.ts");
  const interceptors = join(ROOT, "workflows", "_interceptors.ts");
  const version = readFileSync(
    join(ROOT, "node_modules/@temporalio/workflow/package.json"),
    "utf8",
  );
  const texts = [];
  for (const one of [entry, converters, interceptors]) texts.push(await bundledText(one));
  const kept = join(CACHE, `workflows-${digest([version, ...texts])}.js`);
  const isKept = existsSync(kept);
  if (!isKept) {
    const { bundleWorkflowCode, DefaultLogger } = await import("@temporalio/worker");
    const logger = new DefaultLogger("WARN");
    const { code } = await bundleWorkflowCode({
      workflowsPath: entry,
      payloadConverterPath: converters,
      failureConverterPath: converters,
      workflowInterceptorModules: [interceptors],
      logger,
    });
    mkdirSync(CACHE, { recursive: true });
    removeOldBundles();
    writeFileSync(`${kept}.${process.pid}`, code);
    renameSync(`${kept}.${process.pid}`, kept);
  }
  copyFileSync(kept, file);
  return isKept ? "as before" : `bundled ${Math.round(statSync(file).size / 1024)} KiB`;
}

/** Returns the text of a program with all of our own code that it imports. */
async function bundledText(entry) {
  const { build, stop } = await import("esbuild");
  const { outputFiles: [file] } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: "external",
    write: false,
    platform: "node",
    format: "esm",
  });
  await stop();
  return file.text;
}

/** Younger ones may be in use: by a run of the tests, for example. */
function removeOldBundles() {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { recursive: true });
  }
}

/** Trains the classifier, so that the first process to use it need not wait for that. */
async function trainClassifier() {
  const code = await run([join(DIST, "judgement", "engine", "classifier", "_train_program.js")]);
  if (code !== 0) throw new Error("The classifier cannot be trained; what is wrong is above");
  return "trained";
}

function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return [path];
      const isSkipped = entry.name.startsWith(".") || entry.name.startsWith("dist.") ||
        folder === ROOT && NOT_SOURCE.has(entry.name);
      return isSkipped ? [] : listFiles(path);
    });
}

function digest(parts) {
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 32);
}
