/**
 * What sessions over Streamable HTTP cost that are open and quiet: 1,000 of them, each with its stream; whether each gets
 * its own answers when all call at once; and whether 10,000 that their clients abandoned are given up.
 *
 * The server is a process of its own; its memory is what it holds after a collection.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { testDatabase } from "../test/_servers.ts";
import type { Figure } from "./_figures.ts";
import { type Server, startServer } from "./_servers.ts";

const OPEN = 1_000;
const ABANDONED = 10_000;
/** A key has at most a hundred sessions. */
const KEYS = ABANDONED / 100;
const ABANDONED_MS = 30_000;
const AT_A_TIME = 32;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  const server = await startServer("./_tool_server_process.ts", [
    ...[JSON.stringify(database), String(KEYS), String(ABANDONED_MS)],
  ]);
  const { keys } = server.told;
  try {
    const before = await memory(server);
    const sessions = await inParallel(OPEN, (n) => open(server, keys[n % KEYS]!));
    const streams = await inParallel(OPEN, (n) => listen(server, sessions[n]!));
    const held = (await memory(server) - before) / OPEN / 1024;
    yield { what: `KiB a session, ${OPEN} open with their streams`, house: [held] };
    const wrong = await Promise.all(sessions.map((one, n) => answersOther(server, one, n)));
    yield {
      what: `answers to the wrong one of ${OPEN} sessions that call at once`,
      house: [wrong.filter(Boolean).length],
      goal: "0",
    };
    for (const stream of streams) stream.abort();
    await sleep(100);

    const started = performance.now();
    await inParallel(ABANDONED, (n) => open(server, keys[n % KEYS]!));
    yield {
      what: `sessions opened a second, ${AT_A_TIME} at a time`,
      house: [ABANDONED / (performance.now() - started) * 1000],
    };
    const deadline = Date.now() + ABANDONED_MS + 10_000;
    while (await openSessions(server) > 0 && Date.now() < deadline) await sleep(250);
    const left = await openSessions(server);
    yield { what: `of ${ABANDONED} abandoned sessions still held`, house: [left], goal: "0" };
    yield {
      what: "KiB that the server holds more than before them all",
      house: [(await memory(server) - before) / 1024],
    };
  } finally {
    await server.stop();
    await database.drop();
  }
}

/** @returns bytes */
async function memory({ process }: Server): Promise<number> {
  process.send({});
  const [{ bytes }] = await once(process, "message") as [{ bytes: number }];
  return bytes;
}

interface Session {
  readonly key: string;
  readonly id: string;
}

const headers = (key: string, id?: string) => ({
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  authorization: `Bearer ${key}`,
  ...(id ? { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" } : {}),
});

function post({ address }: Server, key: string, id: string | undefined, message: object) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(`${address}/mcp`, { method: "POST", headers: headers(key, id), body });
}

async function open(server: Server, key: string): Promise<Session> {
  const response = await post(server, key, undefined, {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  });
  await response.text();
  const id = response.headers.get("mcp-session-id");
  if (!id) throw new Error(`No session was opened: ${response.status}`);
  await (await post(server, key, id, { method: "notifications/initialized" })).text();
  return { key, id };
}

async function listen({ address }: Server, { key, id }: Session): Promise<AbortController> {
  const end = new AbortController();
  const init = { headers: headers(key, id), signal: end.signal };
  const response = await fetch(`${address}/mcp`, init);
  if (!response.ok) throw new Error(`No stream was opened: ${response.status}`);
  return end;
}

async function answersOther(server: Server, { key, id }: Session, n: number): Promise<boolean> {
  const call = { name: "echo", arguments: { text: `for session ${n}` } };
  const response = await post(server, key, id, { id: n, method: "tools/call", params: call });
  const said = /^data: (\{.*)$/m.exec(await response.text())?.[1];
  const { id: answered, result } = JSON.parse(said ?? "{}");
  return answered !== n || result.structuredContent.text !== call.arguments.text;
}

async function openSessions({ address }: Server): Promise<number> {
  const { sessions } = await (await fetch(`${address}/health`)).json() as { sessions: number };
  return sessions;
}

async function inParallel<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
    while (next < count) {
      const n = next++;
      results[n] = await work(n);
    }
  }));
  return results;
}
