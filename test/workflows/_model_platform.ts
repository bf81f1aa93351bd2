/** A platform of a test on which a language model writes, and says what the test has it say. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { putService } from "../../store/mod.ts";
import { serveEngine } from "../engine/_engine.ts";
import {
  connectHttp,
  type Json,
  startToolServer,
  type TestToolServer,
} from "../mcp/_tool_server.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { type ModelReply, type ModelRequest, serveModel } from "./_model.ts";

/** Such a platform. */
export interface ModelPlatform {
  readonly loop: TestLoop;
  readonly client: Client;
  /** What it says to the first question, the second and so on; the last of them to all that follow. */
  says: ModelReply[];
  /** What it was asked since the last call. */
  asked: ModelRequest[];
  /** Calls a tool while the model says this. */
  call(name: string, input: object, ...model: ModelReply[]): Promise<Json>;
}

/**
 * Opens one before the tests of the suite that calls this, and closes it after them: with a service that is down, one
 * that needs it, and one that nothing is known of.
 */
export function useModelPlatform(): ModelPlatform {
  let loop: TestLoop;
  let server: TestToolServer;
  let client: Client;

  before(async () => {
    const env = await serveModel((question) => {
      world.asked.push(question);
      return world.says[Math.min(world.asked.length, world.says.length) - 1]!(question);
    });
    loop = await openLoop({ serve: (databaseUrl) => serveEngine(databaseUrl, env) });
    server = await startToolServer({ on: loop.database, temporal: loop.client });
    client = await connectHttp(server.url, (await server.key()).key);
    const service = (name: string, check: object | null, dependsOn: object[] = []) =>
      putService(loop.store.asPlatform(), {
        name,
        type: "web",
        host: "localhost",
        owner: null,
        origin: "file",
        check,
        dependsOn,
        restart: null,
        watched: false,
        ports: [],
        runbook: null,
      } as never);
    await service("pay-db", { tcp: "127.0.0.1:1" });
    await service("shop", { command: ["true"] }, [{ service: "pay-db", kind: "depends_on" }]);
    await service("search", null);
    await loop.store.asPlatform().execute(
      "UPDATE services SET status = 'down' WHERE name = 'pay-db'",
    );
  });
  after(async () => {
    await client?.close();
    await server?.stop();
    await loop?.stop();
  });

  const world: ModelPlatform = {
    get loop() {
      return loop;
    },
    get client() {
      return client;
    },
    says: [],
    asked: [],
    async call(name, input, ...model) {
      world.says = model;
      world.asked = [];
      const result = await client.callTool({ name, arguments: { ...input } });
      assert.ok(!result.isError, JSON.stringify(result.content));
      return { ...result.structuredContent as Json, _meta: result._meta };
    },
  };
  return world;
}

/** A sentence that a model writes, with the numbers of what it rests on. */
export const claim = (text: string, ...evidence: number[]) => ({ text, evidence });
