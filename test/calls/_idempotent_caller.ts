/** A caller of a gateway and of its tools with idempotency keys. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, Problem } from "../../contract/mod.ts";
import { openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import type { Json } from "./_platform.ts";

/** Number of calls with an idempotency key that a key may make a day. */
export const LIMIT = 60;

/** Fails as often as it is told to, by an error of a kind. A run that is to wait ends once it is released. */
function createFlaky() {
  const runs = { count: 0 };
  const waiting: (() => void)[] = [];
  const operation = defineOperation<Platform>()({
    name: "test.flaky",
    summary: "Fail",
    group: "test",
    effect: "write",
    access: "public",
    input: z.object({
      error: z.enum(["Conflict", "RateLimited", "Unavailable", "Cancelled", "none"]),
      large: z.boolean().default(false),
      wait: z.boolean().default(false),
    }),
    output: z.object({ run: z.number(), padding: z.string() }),
    tool: { fail_once: ["full"] },
    rest: { test_flaky: "POST /v1/test/flaky" },
    governance: { rule: "key-decides" },
    example: { input: { error: "none" }, output: { run: 1, padding: "" } },
    async run({ error, large, wait }) {
      const run = ++runs.count;
      if (wait) await new Promise<void>((done) => waiting.push(done));
      if (error !== "none" && run === 1) throw new Problem(error, `Run ${run} failed`);
      return { run, padding: large ? "x".repeat(200_000) : "" };
    },
  });
  return { operation, runs, release: () => waiting.splice(0).forEach((done) => done()) };
}

/** Opens the gateway and a program's connection to its tools before the tests of the calling suite, and closes both after. */
export function idempotentCaller() {
  const wiper = createDiskWiper();
  const flaky = createFlaky();
  let agent: TestAgent;
  let number = 0;
  before(async () => {
    agent = await openAgent([wiper.operation, flaky.operation], {
      SEALOOP_LIMIT_IDEMPOTENCY: String(LIMIT),
      SEALOOP_LIMIT_FREE: "1000",
    });
  });
  after(() => agent?.people.stop());
  beforeEach(() => {
    wiper.runs.length = 0;
    flaky.runs.count = 0;
  });
  async function post(who: string | undefined, path: string, body: Json, key?: string) {
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    const answer = await agent.people.call("POST", path, who, body, headers);
    return {
      ...answer,
      text: JSON.stringify(answer.body),
      earlier: answer.headers.get("x-earlier"),
    };
  }
  return {
    wiper,
    flaky,
    get agent() {
      return agent;
    },
    newKey: () => `test call ${++number}`,
    post,
    /** Calls the operation that fails once. */
    fail: (fields: Json, key: string, who = "program") => post(who, "/v1/test/flaky", fields, key),
    callTool: (tool: string, input: Json, key: string) =>
      agent.call(tool, input, { "sealoop/idempotency_key": key }),
    errorOf: (result: CallToolResult) => result._meta?.["sealoop/error"],
    db: () => agent.people.store.asPlatform(),
  };
}
