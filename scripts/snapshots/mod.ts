/**
 * Snapshots of what clients see: the description of the gateway and of the tools. A change of either shows in a review.
 *
 * ```ts
 * for (const { path, text } of takeSnapshots()) writeFileSync(path, text);
 * ```
 * @module
 */
import { buildOpenApi } from "../../contract/mod.ts";
import { bindTools, describeTools } from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";
import { GATEWAY_INFO } from "../../processes/mod.ts";

/** Returns the snapshots as they should be, by their paths in the project. */
export function takeSnapshots(): { path: string; text: string }[] {
  return [
    snapshot("openapi", buildOpenApi(operations, GATEWAY_INFO)),
    snapshot("tools", describeTools(bindTools(operations))),
  ];
}

function snapshot(name: string, content: unknown): { path: string; text: string } {
  return {
    path: `test/contract/snapshots/${name}.json`,
    text: `${JSON.stringify(content, null, 1)}\n`,
  };
}
