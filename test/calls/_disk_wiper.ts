/** A dangerous tool, about which people are asked. It records its runs. */
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, type Operation, Problem } from "../../contract/mod.ts";

/** The tool `wipe_disk`. Disk `busy` cannot be wiped, and disk `slow` not before {@linkcode finishSlow}. */
export interface DiskWiper {
  readonly operation: Operation<Platform>;
  /** Input of each run. */
  readonly runs: Record<string, unknown>[];
  finishSlow(): void;
}

/** Creates the tool. */
export function createDiskWiper(): DiskWiper {
  const runs: Record<string, unknown>[] = [];
  let finishSlow!: () => void;
  const mayFinish = new Promise<void>((resolve) => finishSlow = resolve);
  const operation = defineOperation<Platform>()({
    name: "test.wipe",
    summary: "Wipe a disk",
    group: "test",
    effect: "run",
    access: "key",
    input: z.object({
      disk: z.string().min(1).describe("Name of the disk"),
      passes: z.number().int().default(1).describe("Times that it is overwritten"),
      note: z.string().optional().describe("Reason"),
    }),
    output: z.object({ wiped: z.string(), passes: z.number() }),
    tool: { wipe_disk: ["full"] },
    rest: { test_wipe: "POST /v1/test/wipe" },
    governance: { rule: "acts-on-the-outside" },
    example: { input: { disk: "sda" }, output: { wiped: "sda", passes: 1 } },
    async run(input) {
      runs.push(input);
      if (input.disk === "busy") throw new Problem("Conflict", "Disk busy is mounted");
      if (input.disk === "slow") await mayFinish;
      return { wiped: input.disk, passes: input.passes };
    },
  });
  return { operation, runs, finishSlow };
}
