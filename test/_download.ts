/**
 * Programs of others that the tests alone need. Each is downloaded once, by the ordinary client of its kind, into the
 * user's cache. `test/pins/` has the hash of every file, and the client refuses another. `CONTRIBUTING.md` says how to
 * renew the pins.
 */
import { execFile, type ExecFileException, type ExecFileOptions } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../config.ts";
import { cacheFolder, makeInstallFolder, removeStaleInstalls } from "../runtime/embedded/mod.ts";

const run = promisify(execFile);
/** Less than the time that Mocha gives a hook. */
const TIMEOUT_MS = 240_000;
/** For what takes long, in tests that wait for it. */
export const LONG_TIMEOUT_MS = 800_000;
/** Maven's plugin that copies packages. Maven pins no hashes of plugins. */
const MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
/** How clients say that something is not what the pins name, which no test may skip. */
const REFUSAL =
  /EINTEGRITY|EUSAGE|hash(?:es)?\b|checksum|pinned|missing go\.sum|updates to go\.mod|authenticated/i;

/** The folder that a program is in, or why it can't be had here. */
export type Download = { readonly folder: string } | { readonly missing: string };

/** Installs the npm packages of `pins/<name>/package-lock.json`. Their scripts are not run. */
export function installNpm(name: string, timeout = TIMEOUT_MS): Promise<Download> {
  const files = ["package.json", "package-lock.json"];
  return install(name, files.map((file) => join(name, file)), async (folder) => {
    for (const file of files) copyFileSync(pin(name, file), join(folder, file));
    const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
    await client("npm", ["ci", ...options], { cwd: folder, timeout });
  });
}

/**
 * Makes a Python environment with the packages of `pins/<name>.txt`. Programs of it are run by `bin/python -m`, as it is
 * moved into place.
 *
 * @param options for pip besides
 * @param sources name of the pins of packages that have no wheels; the environment's own setuptools builds them
 */
export function installPython(
  name: string,
  options: readonly string[] = [],
  sources?: string,
): Promise<Download> {
  const files = [name, ...sources ? [sources] : []].map((one) => `${one}.txt`);
  return install(name, files, async (folder) => {
    await client("python3", ["-m", "venv", folder]);
    const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    // A package that has to be built would fetch what builds it, which no hash covers.
    const pinned = ["--require-hashes", "--only-binary=:all:", "-r", pin(`${name}.txt`)];
    await client(join(folder, "bin", "python"), [...pip, ...pinned, ...options]);
    if (sources === undefined) return;
    const built = ["--no-build-isolation", "--no-deps", "--require-hashes", "-r"];
    await client(join(folder, "bin", "python"), [...pip, ...built, pin(`${sources}.txt`)]);
  });
}

/**
 * Builds programs from the Go modules of `pins/<name>/go.sum`.
 *
 * @param paths of their packages. One alone is called as the pins are, several each as the last part of its path
 */
export function buildGo(name: string, ...paths: readonly string[]): Promise<Download> {
  return install(name, [join(name, "go.mod"), join(name, "go.sum")], async (folder) => {
    const output = paths.length === 1 ? join(folder, name) : `${folder}/`;
    await client("go", ["build", "-o", output, ...paths], {
      cwd: pin(name),
      timeout: LONG_TIMEOUT_MS,
      env: {
        ...process.env,
        CGO_ENABLED: "0",
        GOFLAGS: "-mod=readonly -buildvcs=false",
        GOTOOLCHAIN: "local",
        GOWORK: "off",
      },
    });
  });
}

/**
 * Downloads Debian's packages, without what they depend on. Debian keeps only the newest versions, so no hash of ours
 * could hold: apt checks each against Debian's signed index, and refuses what it can't check.
 *
 * @param release of Debian; default: those of this machine
 */
export function downloadDebian(packages: readonly string[], release?: string): Promise<Download> {
  const name = release ? `${release}-${packages[0]}` : packages.join("-");
  return install(name, [], async (folder) => {
    const checked = ["-o", "APT::Get::AllowUnauthenticated=false"];
    const options = release ? [...checked, ...await useRelease(release, folder)] : checked;
    await client("apt-get", [...options, "download", ...packages], { cwd: folder });
  });
}

/** Reads the index of another release. @returns the options by which apt uses it */
async function useRelease(release: string, folder: string): Promise<string[]> {
  const state = join(folder, "apt");
  for (const name of ["lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(state, name), { recursive: true });
  }
  writeFileSync(
    join(state, "sources.list"),
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " +
      `http://deb.debian.org/debian ${release} main\n`,
  );
  const settings = {
    "Dir::Etc::sourcelist": join(state, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::lists": join(state, "lists"),
    "Dir::State::status": "/dev/null",
    "Dir::Cache": join(state, "cache"),
    "APT::Sandbox::User": "root", // another user can't read the folder
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await client("apt-get", [...options, "update"], { cwd: folder });
  return options;
}

/**
 * Unpacks an archive of Maven.
 *
 * @param artifact `group:name:version:tar.gz`
 * @param sha256 of the archive
 * @param prepare called once it is unpacked
 */
export function unpackMaven(
  artifact: string,
  sha256: string,
  prepare: (folder: string) => Promise<unknown>,
): Promise<Download> {
  const [, name, version, type] = artifact.split(":");
  return install(`${name}-${version}`, [], async (folder) => {
    const copy = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
    await client("mvn", ["-q", "-B", "--strict-checksums", MAVEN_COPY, ...copy]);
    const archive = join(folder, `${name}-${version}.${type}`);
    const found = createHash("sha256").update(readFileSync(archive)).digest("hex");
    if (found !== sha256) throw new Error(`${artifact} has the SHA-256 ${found}, not the pinned`);
    await client("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
    rmSync(archive);
    await prepare(folder);
  });
}

/** @param pins files whose contents become a part of the folder's name, so that another pin is another folder */
async function install(
  name: string,
  pins: readonly string[],
  fill: (folder: string) => Promise<void>,
): Promise<Download> {
  const hash = createHash("sha256");
  for (const file of pins) hash.update(readFileSync(pin(file)));
  const id = `test-${name}-${hash.digest("hex").slice(0, 12)}`;
  const folder = join(cacheFolder(), id);
  if (existsSync(folder)) return { folder };
  await removeStaleInstalls();
  const fresh = makeInstallFolder(id);
  try {
    await fill(fresh);
    renameSync(fresh, folder);
    return { folder };
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (existsSync(folder)) return { folder }; // another process was first
    const { message } = error as Error;
    if (REFUSAL.test(message)) throw error;
    const lines = message.split("\n");
    const why = lines.find((line) => /error|^E:/i.test(line)) ?? lines.at(-1);
    return { missing: `${name} can't be had here: ${why}` };
  }
}

function pin(...path: readonly string[]): string {
  return join(ROOT, "test", "pins", ...path);
}

/** Runs a client. @throws what it says, where it fails */
async function client(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<void> {
  try {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 };
    await run(program, args, { ...limits, ...options });
  } catch (error) {
    const { stdout, stderr, message, killed } = error as ExecFileException;
    if (killed) throw new Error(`${program} took too long`);
    throw new Error((stderr || stdout || message).trim()); // Maven writes its errors to stdout
  }
}
