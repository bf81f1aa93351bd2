import { z } from "zod";
import type { Platform } from "../calls/mod.ts";
import { defineOperation, type Effect, type Operation } from "../contract/mod.ts";

const operation = defineOperation<Platform>();

/** Returns an operation that does nothing. Its tool has the name of its effect. */
export function emptyTool(effect: Effect): Operation<Platform> {
  return operation({
    name: `bench.${effect}`,
    group: "bench",
    summary: "Do nothing",
    effect,
    access: "key",
    input: z.object({}),
    output: z.object({}),
    tool: { [effect]: ["full"] },
    governance: { rule: "key-decides" },
    example: { input: {}, output: {} },
    run: () => Promise.resolve({}),
  });
}

/** An operation that returns its input, as tool `echo`. */
export const echoTool: Operation<Platform> = operation({
  name: "bench.echo",
  group: "bench",
  summary: "Return the text",
  effect: "read",
  access: "key",
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
  tool: { echo: ["full"] },
  example: { input: { text: "a" }, output: { text: "a" } },
  run: ({ text }) => Promise.resolve({ text }),
});
