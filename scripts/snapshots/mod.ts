/**
 * Snapshots of what clients see: the description of the gateway and of the tools. A change of either shows in a review.
 * Operations and tools have a file per group; the order of all of them is in `openapi.json` and `tools.json`. What is beyond
 * the contract has the same files in a folder of its own.
 *
 * ```ts
 * for (const { path, text } of takeSnapshots()) writeFileSync(path, text);
 * ```
 * @module
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { Platform } from "../../calls/mod.ts";
import { buildOpenApi, type Operation, splitByContract } from "../../contract/mod.ts";
import { bindTools, describeTools } from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";
import { GATEWAY_INFO } from "../../processes/mod.ts";

/** A file as it should be. */
interface Snapshot {
  /** Its path in the project. */
  readonly path: string;
  readonly text: string;
}

/** Content of a snapshot. */
interface Content {
  readonly name: string;
  readonly content: unknown;
}

const FOLDER = "test/contract/snapshots";

/** Returns the snapshots as they should be. */
export function takeSnapshots(): Snapshot[] {
  const { own, extensions } = splitByContract(operations);
  return [...snapshotsOf(own, ""), ...snapshotsOf(extensions, "extensions/")];
}

/** Lists the paths of snapshots in the project that aren't taken anymore. */
export function listStaleSnapshots(snapshots: readonly Snapshot[]): string[] {
  const taken = new Set(snapshots.map(({ path }) => path));
  return readdirSync(join(ROOT, FOLDER), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => `${FOLDER}/${name}`)
    .filter((path) => !taken.has(path));
}

/** @param folder of the snapshots, with a slash at its end; empty: that of all */
function snapshotsOf(operations: readonly Operation<Platform>[], folder: string): Snapshot[] {
  return [...gatewaySnapshots(operations), ...toolSnapshots(operations)]
    .map(({ name, content }) => ({
      path: `${FOLDER}/${folder}${name}.json`,
      text: `${JSON.stringify(content, null, 1)}\n`,
    }));
}

function gatewaySnapshots(operations: readonly Operation<Platform>[]): Content[] {
  const { paths, components, ...document } = buildOpenApi(operations, GATEWAY_INFO) as unknown as {
    readonly paths: Record<string, Record<string, { readonly tags: readonly [string] }>>;
    readonly components: unknown;
  };
  const groups: Record<string, typeof paths> = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const group = groups[operation.tags[0]] ??= {};
      (group[path] ??= {})[method] = operation;
    }
  }
  return [
    snapshot("openapi", { ...document, paths: Object.keys(paths) }),
    snapshot("components", components),
    ...Object.entries(groups).map(([group, content]) => snapshot(`paths/${group}`, content)),
  ];
}

function toolSnapshots(operations: readonly Operation<Platform>[]): Content[] {
  const { tools } = describeTools(bindTools(operations)) as {
    readonly tools: readonly { readonly name: string; readonly group: string }[];
  };
  return [
    snapshot("tools", tools.map(({ name }) => name)),
    ...[...new Set(tools.map(({ group }) => group))].map((group) =>
      snapshot(`tools/${group}`, tools.filter((tool) => tool.group === group))
    ),
  ];
}

function snapshot(name: string, content: unknown): Content {
  return { name, content };
}
