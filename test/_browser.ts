/**
 * A real browser for tests of pages: the Chrome or Chromium on PATH, or else the one of an npm package. It starts with the
 * first test that needs it and closes at the end of the run.
 *
 * ```ts
 * const tab = await newPage();
 * await tab.page.goto(url);
 * assert.deepEqual(tab.problems, []);
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

/** A tab, and everything that went wrong in it. */
export interface TestPage {
  readonly page: Page;
  /** Console errors, exceptions, violations of the content security policy, and failed requests. */
  readonly problems: readonly string[];
  /** Addresses of all its requests, `data:` and `blob:` included. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

interface BrowserProgram {
  readonly executablePath: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Long, for busy machines. */
const TIMEOUT_MS = 120_000;

const PROGRAM_NAMES = [
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "chromium",
  "chromium-browser",
];

/**
 * No sandbox, as containers often have no user namespaces and the pages are our own. Only this machine's names resolve, so
 * that no request can leave it.
 */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--hide-scrollbars",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/** Runs in the page: writes every violation of its policy to the console, which by itself shows most of them only. */
const LOG_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) => {
  console.error("policy: " + event.effectiveDirective + " refuses " + event.blockedURI + " " + event.sample);
});`;

let browser: Promise<Browser> | undefined;

/** Returns the browser of this run. @throws there is none for this machine; the message says what to install */
export function openBrowser(): Promise<Browser> {
  return browser ??= launch();
}

/** Opens a tab with cookies and storage of its own, 1400 px wide. */
export async function newPage(): Promise<TestPage> {
  const context = await (await openBrowser()).createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.setViewport({ width: 1400, height: 900 });
  const problems: string[] = [];
  const requests: string[] = [];
  page
    .on("console", (message) => {
      if (message.type() === "error") problems.push(`console: ${message.text()}`);
    })
    .on("pageerror", (error) => problems.push(`exception: ${error}`))
    .on("request", (request) => requests.push(request.url()))
    .on("requestfailed", (request) => {
      problems.push(`request: ${request.url()} ${request.failure()?.errorText}`);
    })
    .on("response", (response) => {
      if (response.status() >= 400) {
        problems.push(`request: ${response.url()} ${response.status()}`);
      }
    });
  await page.evaluateOnNewDocument(LOG_VIOLATIONS);
  return { page, problems, requests, close: () => context.close() };
}

/** Mocha calls this at the end of the run, failed or not. */
export async function mochaGlobalTeardown(): Promise<void> {
  await (await browser?.catch(() => undefined))?.close();
}

async function launch(): Promise<Browser> {
  const { default: puppeteer } = await import("puppeteer-core"); // most runs open no page
  const { executablePath, env } = findInstalled() ?? await findPackaged();
  return puppeteer.launch({
    executablePath,
    env,
    args: ARGUMENTS,
    headless: "shell",
    timeout: TIMEOUT_MS,
  });
}

function findInstalled(): BrowserProgram | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of PROGRAM_NAMES) {
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
 * Returns the Chromium of `@sparticuz/chromium` with its libraries and fonts, unpacked once into the user's cache.
 *
 * By itself the package unpacks into the shared temporary folder and runs whatever lies there. It therefore runs in a
 * process of its own with another TMPDIR, and with the variable of Amazon's machines that makes it unpack its libraries.
 */
async function findPackaged(): Promise<BrowserProgram> {
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
    writeFileSync(join(fresh, "fonts", "fonts.conf"), fontsConfig(folder));
    try {
      if (!existsSync(folder)) renameSync(fresh, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error; // else another process was quicker
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Returns a configuration that names our folders, not Amazon's; without any font the browser crashes. */
function fontsConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, "fonts", "fonts")}</dir>
  <cachedir>${join(folder, "fonts-cache")}</cachedir>
</fontconfig>
`;
}
