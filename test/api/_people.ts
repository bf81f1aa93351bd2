/** A gateway with its workers in this process, and people and programs with keys. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { operations, registry } from "../../operations/mod.ts";
import type { Store } from "../../store/mod.ts";
import { findApprovalOwner, getApproval } from "../../store/approvals/mod.ts";
import type { NewKey } from "../../store/keys/mod.ts";
import { createGatewayApp, openPlatform, openToolServer } from "../../processes/mod.ts";
import { serve } from "../../runtime/web/mod.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";
import { connect } from "../mcp/_tool_server.ts";
import { openLoop, type ServeEngine, type TestLoop, type Watch } from "../workflows/_loop.ts";
import { checkAnswers } from "../_described_answers.ts";
import { giveKey } from "../_superuser.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

/** Who there is. `ann` has two keys, and `self` is the program's own holder. */
const KEYS: Readonly<Record<string, Partial<NewKey>>> = {
  program: { principal: "Program" },
  self: { principal: " program", mayApprove: true },
  ann: { principal: "ann", mayApprove: true },
  ann2: { principal: "Ann ", mayApprove: true },
  bob: { principal: "bob", mayApprove: true },
  rival: { principal: "rival", mayApprove: true, tenant: "elsewhere" },
  operator: { principal: "on call", mayApprove: true, tier: "admin", tenant: "operators" },
  free: { principal: "cy", tier: "free" },
  admin: { principal: "operator", tier: "admin" },
};

const UNLIMITED = {
  SEALOOP_LIMIT_PARTNER: "1000000",
  SEALOOP_LIMIT_CONSOLE: "1000000",
  SEALOOP_LIMIT_SIGN_IN: "1000000",
};

/** The state of an approval after a vote. */
const MOVES = { approve: "approved", deny: "denied", reopen: "reopened" } as const;
/** Pause before a vote is cast again that a busy worker has not taken in time. */
const VOTE_PAUSE_MS = 500;

/** A platform of a test with everybody on it. */
export interface People {
  readonly loop: TestLoop;
  readonly store: Store;
  readonly platform: Platform;
  readonly url: string;
  keyId(who: string): string;
  /** Calls by somebody's key, or by none. @param more headers */
  call(
    method: string,
    path: string,
    who?: string,
    body?: unknown,
    more?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; body: Json }>;
  /** Votes on an approval once it has begun, and waits until the vote counts, or is refused. */
  vote(
    approvalId: string,
    how: keyof typeof MOVES,
    who?: string,
    body?: object,
  ): ReturnType<People["call"]>;
  /** Connects an agent with a key of its own to a tool server that is closed with the rest. */
  agent(): Promise<Client>;
  /** Address of a tool server that is closed with the rest, at the port of SEALOOP_MCP_URL if it is set, and a key of an agent. */
  tools(): Promise<{ url: string; key: string; keyId: string }>;
  /** Waits until a receipt is part of the chain. */
  sealed(receiptId: string): Promise<void>;
  eventually<T>(look: () => Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

/**
 * Opens one. Its gateway is at the address of SEALOOP_GATEWAY_URL, or else at any free port of localhost.
 *
 * @param settings by the names of environment variables
 * @param extra operations besides the platform's
 * @param serveEngine default: this process serves an engine without a model
 * @param watch is called before and after each activity
 */
export async function openPeople(
  settings: Record<string, string> = {},
  extra: readonly Operation<Platform>[] = [],
  serveEngine?: ServeEngine,
  watch?: Watch,
): Promise<People> {
  const all = extra.length > 0 ? [...operations, ...extra] : operations;
  const loop = await openLoop({
    settings: { ...UNLIMITED, ...settings }, // as tests poll
    ...(serveEngine ? { serve: serveEngine } : {}),
    ...(watch ? { watch } : {}),
    operations: new Map([...registry, ...extra.map((one) => [one.name, one] as const)]),
  });
  const { store, sealer, config } = loop;
  const address = settings.SEALOOP_GATEWAY_URL ?? `http://localhost:${await freePort()}`;
  const gateway = await openPlatformOf(loop, "gateway", address);
  const { platform } = gateway;
  const app = createGatewayApp(gateway, all);
  checkAnswers(app, all);
  const server = await serve(app, config.settings, Number(new URL(address).port));
  const keys = new Map<string, { key: string; id: string }>();
  for (const [name, fields] of Object.entries(KEYS)) {
    const { key, record } = await giveKey(store, {
      tier: "partner",
      scope: "full",
      principal: name,
      mayApprove: false,
      expiresAt: null,
      ...fields,
    });
    keys.set(name, { key, id: record.id });
  }
  const closing: (() => Promise<unknown>)[] = [];
  async function tools() {
    const open = await openPlatformOf(loop, "tools", address);
    const server = await openToolServer(open, { operations: all });
    const { SEALOOP_MCP_URL: own = "http://localhost:0" } = config.settings;
    const served = await serve(server.app, config.settings, Number(new URL(own).port));
    const { key, record } = await giveKey(store, {
      tier: "partner",
      scope: "full",
      principal: "agent",
      mayApprove: false,
      expiresAt: null,
    });
    closing.push(() => server.drain(0), () => served.close(0), server.close, open.close);
    return { url: served.address, key, keyId: record.id };
  }
  const keyId: People["keyId"] = (who) => keys.get(who)!.id;
  const call: People["call"] = async (method, path, who, body, more = {}) => {
    const response = await fetch(server.address + path, {
      method,
      headers: {
        ...(who ? { "x-api-key": keys.get(who)!.key } : {}),
        ...(body ? { "content-type": "application/json" } : {}),
        ...more,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  return {
    loop,
    store,
    platform,
    url: server.address,
    eventually,
    keyId,
    call,
    async vote(approvalId, how, who, body) {
      const path = `/v1/approvals/${approvalId}`;
      await eventually(async () => {
        const tenant = await findApprovalOwner(store.db, approvalId);
        return tenant && (await getApproval(store.asTenant(tenant), approvalId))!.moves > 0;
      });
      let isLate = false;
      for (;;) {
        const answer = await call("POST", `${path}/${how}`, who, body);
        if (answer.status === 503) isLate = true; // the vote is stored, and may count by itself
        else if (answer.status === 200 || !isLate) return answer;
        else {
          const { body: approval } = await call("GET", `${path}/info`, who);
          const counted = approval.moves?.findLast(({ move, key_id }: Json) =>
            move === MOVES[how] && key_id === keyId(who!)
          );
          if (!counted) return answer;
          const { receipt_id } = counted;
          return { ...answer, status: 200, body: { ...approval, receipt_id } };
        }
        await sleep(VOTE_PAUSE_MS);
      }
    },
    tools,
    async agent() {
      const { url, key } = await tools();
      const client = await connect(url, key);
      closing.unshift(() => client.close());
      return client;
    },
    async sealed(receiptId) {
      await sealer.sealed(receiptId);
    },
    async stop() {
      for (const close of closing) await close();
      await server.close(0);
      await gateway.close();
      await loop.stop();
    },
  };
}

/** Opens the platform of another process on the servers of a loop. */
async function openPlatformOf(
  loop: TestLoop,
  role: "gateway" | "tools",
  url: string = loop.urls.gateway,
) {
  const { config, log, database, temporal, engine, operations } = loop;
  const urls = { ...loop.urls, gateway: url };
  const parts = { config, log, databaseUrl: () => database.urls[role] };
  return await openPlatform(parts, role, { temporal, engine, operations, urls });
}
