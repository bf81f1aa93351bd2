/** A tool that no rule that ships speaks of, which counts how often it was run, and with what. */
import { z } from "zod";
import { defineOperation, Problem } from "../../contract/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import type { Platform } from "../../calls/mod.ts";

/** What a test sees of it. */
export interface Dangerous {
  readonly operation: Operation<Platform>;
  /** Arguments of each run. */
  readonly runs: Record<string, unknown>[];
  /** Lets the runs on disk `slow` end, which wait for it. */
  letGo(): void;
}

/** Makes one. */
export function dangerous(): Dangerous {
  const runs: Record<string, unknown>[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => letGo = resolve);
  const operation = defineOperation<Platform>()({
    name: "test.wipe",
    summary: "Wipe a disk",
    group: "test",
    effect: "run",
    access: "key",
    input: z.object({
      disk: z.string().min(1).describe("Which"),
      passes: z.number().int().default(1).describe("How often"),
      note: z.string().optional().describe("What for"),
    }),
    output: z.object({ wiped: z.string(), passes: z.number() }),
    tool: { wipe_disk: ["full"] },
    rest: { test_wipe: "POST /v1/test/wipe" },
    example: { input: { disk: "sda" }, output: { wiped: "sda", passes: 1 } },
    async run(input) {
      runs.push(input);
      if (input.disk === "busy") throw new Problem("Conflict", "Disk busy is mounted");
      if (input.disk === "slow") await gate;
      return { wiped: input.disk, passes: input.passes };
    },
  });
  return { operation, runs, letGo };
}
