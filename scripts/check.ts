/** Checks of types, lint, formatting, exports that nothing imports, and documentation. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { run } from "./_run.mjs";
import { step } from "./_step.mjs";
import { listFaces } from "./imports/mod.ts";

const TSC = join("node_modules", "typescript", "bin", "tsc");
const DENO = join("node_modules", "deno", "bin.cjs");
const KNIP = join("node_modules", "knip", "bin", "knip.js");
const CHECKS = {
  Types: [TSC, "-p", "."],
  "Page types": [TSC, "-p", join("ledger", "page", "browser")],
  "Console types": [TSC, "-p", join("console", "browser")],
  Lint: [DENO, "lint", "--quiet"],
  Format: [DENO, "fmt", "--check", "--quiet"],
  Exports: [KNIP, "--no-progress", "--include", "files,exports,types,duplicates,unresolved"],
};

/** Runs all checks and returns the titles of those that failed. */
export async function check(): Promise<string[]> {
  const failed: string[] = [];
  for (const [title, args] of Object.entries(CHECKS)) {
    await step(title, async () => {
      if (await run(args) === 0) return "ok";
      failed.push(title);
      return "failed; see above";
    });
  }
  await step("Documents", () => {
    const errors = findUndocumented();
    if (errors.length === 0) return Promise.resolve("ok");
    failed.push("Documents");
    console.error(errors.join("\n"));
    return Promise.resolve(`${errors.length} errors; see above`);
  });
  return failed;
}

/**
 * Returns the errors of Deno's documentation check on exported symbols. Left out are fields, whose names say it all, and
 * references to types of other folders' private files.
 */
function findUndocumented(): string[] {
  const { stderr } = spawnSync(
    process.execPath,
    [DENO, "doc", "--lint", "--quiet", ...listFaces()],
    { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } },
  );
  return stderr.split(/\n(?=error\[)/).filter((text) =>
    /^error\[(missing-jsdoc|missing-explicit-type)\]/.test(text) && /-->.*:1\n/.test(text)
  );
}
