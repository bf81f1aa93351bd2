/** A gateway with a sequencer, for requests of which the whole answer matters. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { runSequencer } from "../../ledger/mod.ts";
import { openStore } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

/** Calls a day of a free key at this gateway. */
export const DAILY_LIMIT = 5;

/** A request of a test. */
interface TestRequest {
  /** Default: GET, or POST with a body. */
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** An answer of the gateway. */
interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- whatever came, for the tests to look into
  readonly body: any;
}

/** The gateway of a file of tests. */
export interface DescribedGateway {
  readonly gateway: TestGateway;
  /** A key of tier partner. */
  readonly partner: string;
  /** Calls a path. */
  call(path: string, request?: TestRequest): Promise<TestAnswer>;
}

/** Opens a gateway with a sequencer before the tests of the calling suite, and closes both after them. */
export function describedGateway(extra: readonly Operation<Platform>[] = []): DescribedGateway {
  let gateway: TestGateway;
  let partner: string;
  let sequencer: Promise<unknown>;
  const stop = new AbortController();

  before(async () => {
    gateway = await startGateway({
      extra,
      settings: { SEALOOP_LIMIT_FREE: String(DAILY_LIMIT), SEALOOP_TRUSTED_HOPS: "1" },
    });
    partner = await gateway.key();
    const store = openStore(gateway.urls.sequencer, "sequencer");
    const keyFile = join(await testFolder(), "ledger.key");
    sequencer = runSequencer({ store, keyFile, signal: stop.signal }).finally(() => store.close());
  });
  after(async () => {
    stop.abort();
    await sequencer;
    await gateway.stop();
  });

  return {
    get gateway() {
      return gateway;
    },
    get partner() {
      return partner;
    },
    async call(path, request = {}) {
      const { body, method = body === undefined ? "GET" : "POST", key, headers } = request;
      const response = await fetch(gateway.url + path, {
        method,
        headers: {
          ...(key === undefined ? {} : { "x-api-key": key }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.headers.get("x-request-id"), path);
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
}
