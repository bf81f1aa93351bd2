import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { architecturePicture } from "./_architecture.ts";
import { detectorsPage } from "./_detectors.ts";
import type { GeneratedFile } from "./_page.ts";
import { referencePage } from "./_reference.ts";
import { rightsPage } from "./_rights.ts";
import { runbookFiles } from "./_runbooks.ts";
import { scriptFiles } from "./_scripts.ts";
import { schemaFiles } from "./_schemas.ts";
import { settingsPage } from "./_settings.ts";
import { settingsFilesPage } from "./_settings_files.ts";
import { sourcesPage } from "./_sources.ts";

const FILES: readonly GeneratedFile[] = [
  settingsPage,
  settingsFilesPage,
  detectorsPage,
  sourcesPage,
  referencePage,
  rightsPage,
  architecturePicture,
  ...runbookFiles,
  ...scriptFiles,
  ...schemaFiles,
];

/** Returns the generated files as they should be, formatted. */
export async function generateDocs(): Promise<{ path: string; text: string }[]> {
  return await Promise.all(FILES.map(async ({ path, generate }) => ({
    path,
    text: format(path, await generate()),
  })));
}

/** Formats text as `deno fmt` does; pictures stay as they are. */
function format(path: string, text: string): string {
  const extension = path.split(".").at(-1)!;
  if (extension === "svg") return text;
  const deno = join(ROOT, "node_modules", "deno", "bin.cjs");
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [deno, "fmt", "--ext", extension, "--quiet", "-"],
    { input: text, encoding: "utf8", cwd: ROOT },
  );
  if (status !== 0) throw new Error(`Cannot format ${path}: ${stderr}`);
  return stdout;
}
