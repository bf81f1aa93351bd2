/** A platform with a language model whose text the test decides. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { putService, type ServiceRecord } from "../../store/cmdb/mod.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import {
  connectHttp,
  type Json,
  startToolServer,
  type TestToolServer,
} from "../mcp/_tool_server.ts";
import { serviceNamed } from "../store/_graph.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { type ModelReply, type ModelRequest, serveModel } from "./_model.ts";
import { asSuperuser } from "../_superuser.ts";

/** Such a platform. */
export interface ModelPlatform {
  readonly loop: TestLoop;
  readonly client: Client;
  /** The model's replies, in order; the last one is repeated. */
  says: ModelReply[];
  /** Requests to the model since the last call. */
  asked: ModelRequest[];
  /** Calls a tool while the model gives these replies. */
  call(name: string, input: object, ...model: ModelReply[]): Promise<Json>;
}

/**
 * Opens one before the tests of the calling suite, and closes it after them. It has a service that is down, one that needs
 * it, and one without a health check.
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
    const service = (name: string, check: ServiceRecord["check"], needs: string[] = []) =>
      putService(
        loop.store.asPlatform(),
        serviceNamed(name, needs, { type: "web", check, watched: false }),
      );
    await service("pay-db", { tcp: "127.0.0.1:1" });
    await service("shop", { command: ["true"] }, ["pay-db"]);
    await service("search", null);
    await asSuperuser(loop.store).execute(
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
      const result = await client.callTool({ name, arguments: { ...input, verbose: true } });
      assert.ok(!result.isError, JSON.stringify(result.content));
      return { ...result.structuredContent as Json, _meta: result._meta };
    },
  };
  return world;
}

/** Returns a sentence of a model with the numbers of the evidence that it cites. */
export const claim = (text: string, ...evidence: number[]) => ({ text, evidence });
