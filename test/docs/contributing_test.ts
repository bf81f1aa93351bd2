/** Follows the steps of CONTRIBUTING.md in a copy of the sources. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { ROOT } from "../../config.ts";
import { loadRunbooks } from "../../judgement/runbooks/mod.ts";
import { testFolder } from "../_run.ts";

/** Entries of the project that the copy does without. */
const LEFT_OUT = new Set(["node_modules", "dist", "docs", "bench", "LICENSE"]);

const guide = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");

describe("CONTRIBUTING.md", () => {
  let copy: string;
  before(async () => {
    copy = join(await testFolder(), "sealoop");
    copySources(copy);
    const kinds = ["an operation with a tool", "a workflow", "an integration", "a runbook"];
    const touched = kinds.flatMap((kind) => followSteps(`Add ${kind}`, copy));
    const files = touched.filter((path) => path.endsWith(".ts")); // with what they import
    const settings = { extends: "./tsconfig.json", include: [], files };
    writeFileSync(join(copy, "tsconfig.touched.json"), JSON.stringify(settings));
  });

  it("has steps whose sources type-check together", () => {
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [
      tsc,
      "-p",
      join(copy, "tsconfig.touched.json"),
    ], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });

  it("adds an operation that the OpenAPI description and the list of tools have", async () => {
    const { takeSnapshots } = await import(join(copy, "scripts", "snapshots", "mod.ts"));
    const snapshots = takeSnapshots() as { path: string; text: string }[];
    const textOf = (name: string) => snapshots.find(({ path }) => path.endsWith(name))!.text;
    assert.match(textOf("/paths/itsm.json"), /"\/v1\/itsm\/tickets\/\{ticket_id\}\/age"/);
    assert.match(textOf("/tools/itsm.json"), /"itsm_ticket_age"/);
  });

  it("adds a workflow that can be bundled", async () => {
    const workflowsPath = join(copy, "workflows", "mod.ts");
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("WARN") });
    assert.match(code, /ticketReminder/);
  });

  it("adds a runbook that loads with the shipped ones", () => {
    const { runbooks } = loadRunbooks(join(copy, "judgement", "runbooks", "shipped"));
    assert.ok(runbooks.some(({ runbook }) => runbook === "print-spooler-restart"));
  });
});

function copySources(copy: string): void {
  mkdirSync(copy);
  for (const name of readdirSync(ROOT)) {
    if (!LEFT_OUT.has(name) && !name.startsWith(".")) {
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    }
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
}

/**
 * Writes the blocks of a section to the first file that their step names; a `diff` adds lines to its file.
 *
 * @returns the paths of the files
 */
function followSteps(title: string, copy: string): string[] {
  const touched: string[] = [];
  const [, rest] = guide.split(`\n## ${title}\n`);
  assert.ok(rest, `There is no section ${title}`);
  for (const step of rest.split("\n## ")[0]!.split(/^(?=\d+\. )/m)) {
    const block = /^ {3}```(\w+)\n(.*?)^ {3}```$/ms.exec(step);
    if (!block) continue;
    const [, path] = /`([\w./-]+\.(?:ts|yaml))`/.exec(step)!;
    const file = join(copy, path!);
    const text = block[2]!.replace(/^ {3}/gm, "");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, block[1] === "diff" ? addLines(file, text) : text);
    touched.push(path!);
  }
  return touched;
}

/** Returns a file's text with the added lines of a diff, each after the line that precedes it in the diff. */
function addLines(path: string, diff: string): string {
  const lines = readFileSync(path, "utf8").split("\n");
  let after = "";
  for (const line of diff.trimEnd().split("\n")) {
    const text = line.slice(1);
    if (line.startsWith("+")) {
      const places = lines.flatMap((one, n) => one === after ? [n] : []);
      assert.equal(places.length, 1, `${path} has ${places.length} lines: ${after}`);
      lines.splice(places[0]! + 1, 0, text);
    }
    after = text;
  }
  return lines.join("\n");
}
