import { z } from "zod";
import { defineOperation, type Effect, type Operation } from "../contract/mod.ts";
import type { Platform } from "../calls/mod.ts";

/** A tool that does nothing and says to have this effect, under the effect's name. */
export function emptyTool(effect: Effect): Operation<Platform> {
  return defineOperation<Platform>()({
    name: `bench.${effect}`,
    group: "bench",
    summary: "Do nothing",
    effect,
    access: "key",
    input: z.object({}),
    output: z.object({}),
    tool: { [effect]: ["full"] },
    example: { input: {}, output: {} },
    run: () => Promise.resolve({}),
  });
}
