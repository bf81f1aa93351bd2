/**
 * A real browser for tests of pages: a Chrome or Chromium that is on PATH, else the one that a package carries. Started
 * when the first test asks for it, and closed when the run has ended.
 *
 * ```ts
 * const tab = await newPage();
 * await tab.page.goto(url);
 * assert.deepEqual(tab.troubles, []);
 * await tab.close();
 * ```
 */
import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "puppeteer-core";
import { ROOT } from "../config.ts";

/** A tab, and all that went wrong in it. */
export interface TestPage {
  readonly page: Page;
  /** Console errors, exceptions, violations of the content security policy, and requests that failed. */
  readonly troubles: readonly string[];
  /** Address of every request that it made, data: and blob: among them. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

interface Program {
  readonly executablePath: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Whatever a page or the browser takes longer for, it does not come; a busy machine needs much of it. */
const PATIENCE_MS = 120_000;

const NAMES = ["google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser"];

/**
 * The sandbox is off, as containers often have no user namespaces and the pages are our own; no name but this machine's
 * resolves, so that nothing can leave it.
 */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--hide-scrollbars",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/** Runs in the page: what its policy refuses, the console tells; it does so by itself for most, but not all of it. */
const TELL_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) => {
  console.error("policy: " + event.effectiveDirective + " refuses " + event.blockedURI + " " + event.sample);
});`;

let opened: Promise<Browser> | undefined;

/** The browser of this run. @throws where there is none for this machine, with what to install */
export function openBrowser(): Promise<Browser> {
  return opened ??= launch();
}

/** Opens a tab with cookies and storage of its own, 1400 px wide. */
export async function newPage(): Promise<TestPage> {
  const context = await (await openBrowser()).createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width: 1400, height: 900 });
  const troubles: string[] = [];
  const requests: string[] = [];
  page
    .on("console", (message) => {
      if (message.type() === "error") troubles.push(`console: ${message.text()}`);
    })
    .on("pageerror", (error) => troubles.push(`exception: ${error}`))
    .on("request", (request) => requests.push(request.url()))
    .on("requestfailed", (request) => {
      troubles.push(`request: ${request.url()} ${request.failure()?.errorText}`);
    })
    .on("response", (response) => {
      if (response.status() >= 400) {
        troubles.push(`request: ${response.url()} ${response.status()}`);
      }
    });
  await page.evaluateOnNewDocument(TELL_VIOLATIONS);
  return { page, troubles, requests, close: () => context.close() };
}

/** Mocha calls this when the run has ended, however it did. */
export async function mochaGlobalTeardown(): Promise<void> {
  await (await opened?.catch(() => undefined))?.close();
}

async function launch(): Promise<Browser> {
  const { default: puppeteer } = await import("puppeteer-core"); // most runs open no page
  const { executablePath, env } = installed() ?? await packaged();
  return puppeteer.launch({
    executablePath,
    env,
    args: ARGUMENTS,
    headless: "shell",
    timeout: PATIENCE_MS,
  });
}

function installed(): Program | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of NAMES) {
      const executablePath = join(folder, name);
      if (canRun(executablePath)) return { executablePath, env: process.env };
    }
  }
  return undefined;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The Chromium of `@sparticuz/chromium`, with the libraries and fonts that come along, unpacked once into the user's
 * cache. The package itself would unpack to, and run whatever lies at, a path in the shared temporary folder; told of
 * another, and of Amazon's machines so that it gives its libraries, it does so in a process of its own.
 */
async function packaged(): Promise<Program> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("No browser to test pages with: put Chrome or Chromium on PATH");
  }
  const manifest = join(ROOT, "node_modules", "@sparticuz", "chromium", "package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sealoop");
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) await unpack(cache, folder);
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    FONTCONFIG_PATH: join(folder, "fonts"),
  };
  return { executablePath: join(folder, "chromium"), env };
}

async function unpack(cache: string, folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, "chromium-new-"));
  try {
    const program = `import("@sparticuz/chromium").then((it) => it.default.executablePath())`;
    await promisify(execFile)(process.execPath, ["-e", program], {
      cwd: ROOT,
      env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
    });
    writeFileSync(join(fresh, "fonts", "fonts.conf"), fontsOf(folder));
    try {
      if (!existsSync(folder)) renameSync(fresh, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error; // else another process was quicker
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The package's own file names folders of Amazon's machines; without any font the browser crashes. */
function fontsOf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, "fonts", "fonts")}</dir>
  <cachedir>${join(folder, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
