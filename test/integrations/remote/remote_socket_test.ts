import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { openRemoteSocket, type RemoteFailed } from "../../../integrations/remote/mod.ts";

const SECRET = "token-of-the-test";
const Message = z.looseObject({ action: z.string() });

describe("openRemoteSocket()", () => {
  let server: Server;
  const sockets = new WebSocketServer({ noServer: true });
  let url: string;
  /** Answers that are no WebSocket; undefined: one is opened. */
  let respond: ((response: ServerResponse, request: IncomingMessage) => void) | undefined;
  let talk: (socket: WebSocket) => void;
  let connections = 0;

  before(async () => {
    server = createServer();
    server.on("upgrade", (request, socket, head) => {
      connections++;
      assert.equal(request.headers["x-auth"], SECRET);
      assert.equal(request.url, "/control.ashx");
      if (!respond) return sockets.handleUpgrade(request, socket, head, (one) => talk(one));
      const chunks: string[] = [];
      const response = {
        writeHead(status: number, headers = {}) {
          chunks.push(`HTTP/1.1 ${status} X\r\n`);
          for (const [name, value] of Object.entries(headers)) chunks.push(`${name}: ${value}\r\n`);
          return response;
        },
        end: (body = "") => socket.end(`${chunks.join("")}\r\n${body}`),
      };
      respond(response as unknown as ServerResponse, request);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    connections = 0;
    respond = undefined;
  });
  after(() => {
    for (const one of sockets.clients) one.terminate();
    server.closeAllConnections();
    server.close();
  });

  const open = (timeoutMs = 60_000) =>
    openRemoteSocket({ system: "Mesh", url, timeoutMs, credential: () => ({ "x-auth": SECRET }) });
  const question = {
    path: "/control.ashx",
    receive(message: unknown, fail: { shape(): RemoteFailed; credential(): RemoteFailed }) {
      const parsed = Message.safeParse(message);
      if (!parsed.success) throw fail.shape();
      if (parsed.data.action === "hello") return { send: [{ action: "ask" }] };
      if (parsed.data.action === "close") throw fail.credential();
      return parsed.data.action === "answer" ? { answer: parsed.data } : undefined;
    },
  };
  const failure = async (work: Promise<unknown>): Promise<RemoteFailed> => {
    const error = await work.then(() => undefined, (error) => error) as RemoteFailed;
    assert.equal(error?.name, "Unavailable");
    assert.doesNotMatch(`${error.message}${error.stack}`, new RegExp(`${SECRET}|127\\.0\\.0\\.1`));
    return error;
  };
  const hello = (socket: WebSocket) => socket.send('{"action":"hello"}');

  it("asks, leaves out messages that matter to nobody, and hangs up with the answer", async () => {
    let closed: Promise<void> | undefined;
    talk = (socket) => {
      closed = new Promise((resolve) => socket.on("close", () => resolve()));
      socket.on("message", (data) => {
        assert.equal(data.toString(), '{"action":"ask"}');
        socket.send('{"action":"news"}');
        socket.send('{"action":"answer","n":1}');
      });
      hello(socket);
    };
    assert.deepEqual(await open().read(question), { action: "answer", n: 1 });
    await closed;
    assert.equal(connections, 1);
  });

  const hostile: readonly [
    name: string,
    code: string,
    connections: number,
    behaviour: { respond?: typeof respond; talk?: typeof talk },
  ][] = [
    ["a time-out before the connection", "timeout", 1, { respond() {} }],
    ["a time-out after it", "timeout", 1, { talk() {} }],
    ["401", "credential", 1, { respond: (to) => to.writeHead(401).end(SECRET) }],
    ["403", "credential", 1, { respond: (to) => to.writeHead(403).end() }],
    ["404", "refused", 1, { respond: (to) => to.writeHead(404).end() }],
    ["429", "limited", 1, { respond: (to) => to.writeHead(429, { "retry-after": "7" }).end() }],
    ["500", "failed", 3, { respond: (to) => to.writeHead(500).end(SECRET) }],
    ["a page", "not_socket", 1, {
      respond: (to) => to.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    }],
    ["a redirect to a private address", "redirect", 1, {
      respond: (to) => to.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    }],
    ["a refusal in a message", "credential", 1, {
      talk: (socket) => socket.send('{"action":"close"}'),
    }],
    ["a message that is cut off", "unreachable", 3, {
      talk(socket) {
        // A frame of text that announces 100 bytes.
        const raw = (socket as unknown as { _socket: { write(b: Buffer): void; destroy(): void } })
          ._socket;
        raw.write(Buffer.concat([Buffer.from([0x81, 100]), Buffer.from('{"action"')]));
        setTimeout(() => raw.destroy(), 5);
      },
    }],
    ["a message that is not JSON", "not_json", 1, { talk: (socket) => socket.send("<html>") }],
    ["a message of another shape", "shape", 1, { talk: (socket) => socket.send("[]") }],
    ["a message of 10 MB", "too_large", 1, {
      talk: (socket) => socket.send(Buffer.alloc(10 * 1024 * 1024, " ").toString()),
    }],
    ["10 MB in many messages", "too_large", 1, {
      talk(socket) {
        const news = JSON.stringify({ action: "news", text: " ".repeat(1024 * 1024) });
        for (let n = 0; n < 10; n++) socket.send(news);
      },
    }],
  ];
  for (const [name, code, asked, behaviour] of hostile) {
    it(`fails on ${name}, and connects ${asked} times`, async () => {
      respond = behaviour.respond;
      talk = behaviour.talk ?? hello;
      const client = code === "timeout" ? open(300) : open();
      const read = await failure(client.read(question));
      if (code === "timeout") connections ||= 1; // the time may be over before the server sees it
      assert.deepEqual([read.code, connections], [code, asked]);
    });
  }

  it("pauses for as long as a server asks for by Retry-After", async () => {
    respond = (to) => to.writeHead(429, { "retry-after": "200" }).end();
    const client = open();
    assert.equal((await failure(client.read(question))).code, "limited");
    assert.match(
      (await failure(client.read(question))).message,
      /^Mesh failed.* in (1\d\d|200) s$/,
    );
    assert.equal(connections, 1);
    assert.match(client.pause()!, /(1\d\d|200) s$/);
  });

  it("tells nothing of a credential that can't be read", async () => {
    const client = openRemoteSocket({
      system: "Mesh",
      url,
      credential() {
        throw new Error(`Others can read ${SECRET}`);
      },
    });
    assert.equal((await failure(client.read(question))).code, "credential");
    assert.equal(connections, 0);
  });
});
