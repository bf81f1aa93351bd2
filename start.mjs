/**
 * Runs a program of this project after bringing packages and `dist/` up to date. Plain JavaScript on nothing but Node, as
 * nothing may be installed yet.
 *
 *     node start.mjs                         the whole platform
 *     node start.mjs <program> [arguments]   a program by the path of its source, as in package.json
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { run } from "./scripts/_run.mjs";
import { step } from "./scripts/_step.mjs";

const OLDEST_NODE = [20, 19];
const ROOT = dirname(fileURLToPath(import.meta.url));
const INSTALLED = join("node_modules", ".package-lock.json");
/** Names the packages whose install scripts have run, with their versions. */
const BUILT = join("node_modules", ".built-packages.json");

process.chdir(ROOT);
for (const output of [process.stdout, process.stderr]) output.on("error", ignoreGoneReader);
const [source = "main.ts", ...args] = process.argv.slice(2);
if (await prepare()) await start(source, args);

/** A reader that has gone, such as `head`, ends nothing. */
function ignoreGoneReader(error) {
  if (error.code !== "EPIPE") throw error;
}

async function prepare() {
  try {
    checkNode();
    await install();
    await buildPackages();
    await (await import("./scripts/build.mjs")).build();
    return true;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
    return false;
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]) return;
  const oldest = OLDEST_NODE.join(".");
  throw new Error(`sealoop needs Node ${oldest} or newer; this is ${process.version}`);
}

/** Installs the packages of package-lock.json, unless node_modules holds just these. */
async function install() {
  const wanted = readPackages("package-lock.json");
  const installed = readPackages(INSTALLED);
  const isThere = ([path, { version, optional }]) =>
    path === "" || (installed[path] ? installed[path].version === version : optional === true);
  if (Object.entries(wanted).every(isThere)) return;
  await step("Packages", async () => {
    await runNpm(["ci", "--include=dev", "--no-audit", "--no-fund"]);
    return `installed ${Object.keys(readPackages(INSTALLED)).length}`;
  });
}

/** Runs the install scripts that package.json allows, once for each version. npm runs none by itself (.npmrc). */
async function buildPackages() {
  const installed = readPackages(INSTALLED);
  const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  const versions = allowed.flatMap((name) => {
    const version = installed[`node_modules/${name}`]?.version;
    return version ? [`${name}@${version}`] : [];
  });
  const wanted = JSON.stringify(versions);
  if (versions.length === 0 || existsSync(BUILT) && readFileSync(BUILT, "utf8") === wanted) return;
  await runNpm(["rebuild", "--ignore-scripts=false", ...versions]);
  writeFileSync(BUILT, wanted);
}

async function runNpm(args) {
  const npm = process.env.npm_execpath;
  const code = npm ? await run([npm, ...args]) : await run(args, { program: "npm" });
  if (code !== 0) throw new Error(`npm cannot ${args[0]} the packages; what is wrong is above`);
}

function readPackages(lock) {
  try {
    return JSON.parse(readFileSync(lock, "utf8")).packages;
  } catch {
    return {};
  }
}

/** Runs a program in this process: bundled if it is a part of the product, from its source if it is a tool. */
async function start(source, args) {
  const bundled = join("dist", source.replace(/\.ts$/, ".js"));
  const path = existsSync(bundled) ? bundled : source;
  if (!existsSync(path)) {
    console.error(`There is no program ${source}`);
    process.exitCode = 1;
    return;
  }
  process.argv = [process.execPath, join(ROOT, path), ...args];
  if (path.endsWith(".ts")) await import("tsx");
  await import(pathToFileURL(path).href);
}
