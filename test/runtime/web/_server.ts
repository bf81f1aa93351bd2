/** A web server of a test, and raw requests to it. */
import { once } from "node:events";
import Router from "@koa/router";
import { loadConfig } from "../../../config.ts";
import { Problem } from "../../../contract/mod.ts";
import {
  createApp,
  createLog,
  isSecure,
  type Listening,
  readJson,
  type RequestState,
  serve,
  serverNames,
  serveRoutes,
} from "../../../runtime/web/mod.ts";
import { openConnection, type RawAnswer } from "./_socket.ts";

/** The server of a file of tests. */
export interface TestServer {
  readonly port: number;
  /** Starts another one. @param settings by the names of environment variables */
  start(settings?: Record<string, string>): Promise<Listening>;
  /** Everything logged in the current test. */
  log(): string;
  /** Waits until a request to /slow or /late runs. @returns the function that lets the former finish */
  slowRequest(): Promise<() => void>;
  /** Sends a request as it is, and returns the response. */
  raw(text: string, port?: number): Promise<RawAnswer>;
  post(body: string, headers?: string, path?: string): Promise<RawAnswer>;
  get(path: string, headers?: string, port?: number): Promise<RawAnswer>;
}

const JSON_TYPE = "content-type: application/json\r\n";

/** Returns the `detail` of an error. */
export const detailOf = ({ body }: RawAnswer) => JSON.parse(body).detail;

/** Starts a server before the tests of the calling suite, and closes all of its servers after them. */
export function testServer(): TestServer {
  const running: Listening[] = [];
  const slow: (() => void)[] = [];
  let server: Listening;
  let logged = "";

  async function start(settings: Record<string, string> = {}): Promise<Listening> {
    const { settings: checked } = loadConfig(settings);
    const app = createApp({
      log: createLog("test", "debug", { write: (line) => void (logged += line) }),
      trustedHops: checked.SEALOOP_TRUSTED_HOPS,
      secure: isSecure(checked),
      names: serverNames(checked, [checked.SEALOOP_GATEWAY_URL]),
      foreignPages: "read",
    });
    const router = new Router<RequestState>();
    router.post("/echo", "/echo", async (ctx) => {
      ctx.body = { got: await readJson(ctx) };
    });
    router.post("/late", "/late", async (ctx) => {
      const left = once(ctx.res, "close");
      slow.push(() => {});
      await left;
      ctx.body = { got: await readJson(ctx) };
    });
    router.get("/address", "/address", (ctx) => {
      ctx.body = { address: ctx.state.address };
    });
    router.get("/fails", "/fails", () => {
      throw new Error("SELECT secret FROM /home/somebody");
    });
    router.get("/soon", "/soon", () => {
      throw new Problem("Unavailable", "It is not ready yet");
    });
    router.get("/slow", "/slow", async (ctx) => {
      await new Promise<void>((resolve) => slow.push(resolve));
      ctx.body = { slow: true };
    });
    app.use(serveRoutes(router));
    const listening = await serve(app, checked, 0);
    running.push(listening);
    return listening;
  }

  async function raw(text: string, port = server.port): Promise<RawAnswer> {
    const connection = await openConnection(port);
    connection.write(text);
    const answer = await connection.answer({ head: text.startsWith("HEAD") });
    connection.close();
    return answer;
  }

  before(async () => {
    server = await start();
  });
  beforeEach(() => {
    logged = "";
  });
  after(async () => {
    await Promise.all(running.map((listening) => listening.close(0)));
  });

  return {
    get port() {
      return server.port;
    },
    start,
    log: () => logged,
    async slowRequest() {
      while (slow.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      return slow.pop()!;
    },
    raw,
    post(body, headers = JSON_TYPE, path = "/echo") {
      const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
      return raw(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${length}${headers}\r\n${body}`);
    },
    get: (path, headers = "", port) =>
      raw(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`, port),
  };
}
