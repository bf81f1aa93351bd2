import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "../config.ts";

/** What a folder may import of the others. Those that put parts together (main.ts, processes) may import all. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  store: ["contract"],
  web: ["contract"],
  engine: ["contract", "store", "web"],
  governance: ["contract", "store", "ledger", "engine"],
  embedded: ["store"],
  integrations: ["contract", "store", "embedded"],
  ledger: ["contract", "store"],
  temporal: ["contract"],
  activities: ["contract", "store", "ledger", "integrations", "workflows", "engine"],
  workflows: ["contract", "temporal", "activities", "ledger"],
  operations: [
    "contract",
    "store",
    "ledger",
    "integrations",
    "workflows",
    "activities",
    "temporal",
    "engine",
    "governance",
  ],
  api: ["contract", "web", "operations"],
  mcp: ["contract", "web", "operations"],
};
/** Only types of these, as what runs may not reach there. */
const TYPES_ONLY: Readonly<Record<string, readonly string[]>> = {
  workflows: ["activities", "ledger"],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function importsOf(folder: string): Import[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const from = join(folder, name);
      const text = readFileSync(join(ROOT, from), "utf8");
      const found = text.matchAll(/^(?:import|export)( type)?[^"';]*? from "(\.[^"]+)";/gms);
      return [...found].map(([, type, path]) => ({
        from,
        to: normalize(join(dirname(from), path!)),
        typeOnly: type !== undefined,
      }));
    });
}

/** Files in which a word stands. */
function filesWith(folder: string, word: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("browser"))
    .map((name) => join(folder, name))
    .filter((path) => readFileSync(join(ROOT, path), "utf8").includes(word));
}

describe("what runs on Node", () => {
  it("has timeouts that no garbage collection takes away, those of timeoutSignal()", () => {
    const all = [...Object.keys(MAY), "processes"];
    assert.deepEqual(all.flatMap((folder) => filesWith(folder, "AbortSignal.timeout(")), []);
  });
});

describe("imports", () => {
  for (const [folder, allowed] of Object.entries(MAY)) {
    it(`of ${folder} point to ${["config.ts", ...allowed].join(", ")} alone, through their faces`, () => {
      for (const { from, to, typeOnly } of importsOf(folder)) {
        const [target, ...rest] = to.split("/");
        if (target === folder || to === "config.ts") continue;
        assert.ok(allowed.includes(target!), `${from} imports ${to}`);
        assert.ok(!rest.at(-1)!.startsWith("_"), `${from} imports the private ${to}`);
        if (TYPES_ONLY[folder]?.includes(target!)) {
          assert.ok(typeOnly, `${from} imports more than types of ${to}`);
        }
      }
    });
  }
});
