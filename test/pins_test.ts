import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";

const PINS = join(ROOT, "test", "pins");
const files = readdirSync(PINS, { recursive: true, encoding: "utf8" });
const read = (name: string) => readFileSync(join(PINS, name), "utf8");

describe("the pins of what tests download", () => {
  it("name a hash for each package of npm, and no place to get it from", () => {
    for (const name of files.filter((name) => name.endsWith("package-lock.json"))) {
      const { packages } = JSON.parse(read(name)) as { packages: Record<string, LockedPackage> };
      const { "": root, ...others } = packages;
      assert.ok(root);
      for (const [path, { integrity, resolved, inBundle }] of Object.entries(others)) {
        assert.ok(inBundle || integrity?.startsWith("sha512-"), `${name}: ${path}`);
        assert.equal(resolved, undefined, `${name}: ${path}`);
      }
    }
  });

  it("name one version and its hashes for each package of Python", () => {
    for (const name of files.filter((name) => name.endsWith(".txt"))) {
      for (const one of read(name).trim().split(/\n(?! )/)) {
        assert.match(one, /^[\w.-]+==\S+(?: ; [^\n]+)? \\\n {4}--hash=sha256:[0-9a-f]{64}/, name);
      }
    }
  });
});

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly inBundle?: boolean;
}
