/**
 * Sessions over Streamable HTTP that are open and idle: 1,000 of them, each with its stream; whether each gets its own
 * answers when all call at once; and whether 10,000 that their clients abandoned are closed.
 *
 * The server is a process of its own. Its memory is measured after a garbage collection.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { sharePostgres, testDatabase } from "../test/_servers.ts";
import type { Figure } from "./_figures.ts";
import { type Server, startServer } from "./_servers.ts";
import { ratePerSecond, runConcurrently, scaled } from "./_work.ts";

const OPEN = scaled(1_000);
const ABANDONED = scaled(10_000);
/** A key has at most a hundred sessions. */
const KEYS = Math.ceil(Math.max(OPEN, ABANDONED) / 100);
const ABANDONED_MS = 30_000;
const CONCURRENCY = 32;
const PROTOCOL = "2025-11-25";

/** A session and the key that opened it. */
interface Session {
  readonly key: string;
  readonly id: string;
}

/** Measures open sessions, then abandoned ones. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  const args = [JSON.stringify(database), String(KEYS), String(ABANDONED_MS)];
  const server = await startServer("bench/_tool_server_program.ts", args, await sharePostgres());
  try {
    const before = await readMemory(server);
    yield* measureOpen(server, before);
    yield* measureAbandoned(server);
    yield {
      label: "KiB of the server's memory above its start",
      platform: [(await readMemory(server) - before) / 1024],
    };
  } finally {
    await server.stop();
    await database.drop();
  }
}

async function* measureOpen(server: Server, before: number): AsyncGenerator<Figure> {
  const sessions = await openMany(server, OPEN);
  const streams = await runConcurrently(
    OPEN,
    CONCURRENCY,
    (n) => openStream(server, sessions[n]!),
  );
  const bytes = (await readMemory(server) - before) / OPEN;
  yield { label: `KiB per session, ${OPEN} open with their streams`, platform: [bytes / 1024] };
  const wrong = await Promise.all(sessions.map((one, n) => getsWrongAnswer(server, one, n)));
  yield {
    label: `wrong answers to ${OPEN} sessions that call at once`,
    platform: [wrong.filter(Boolean).length],
    goal: "0",
  };
  for (const stream of streams) stream.abort();
  await sleep(100);
}

async function* measureAbandoned(server: Server): AsyncGenerator<Figure> {
  const rate = await ratePerSecond(ABANDONED, () => openMany(server, ABANDONED));
  yield { label: `sessions opened a second, ${CONCURRENCY} at a time`, platform: [rate] };
  const deadline = Date.now() + ABANDONED_MS + 10_000;
  while (await countSessions(server) > 0 && Date.now() < deadline) await sleep(250);
  yield {
    label: `of ${ABANDONED} abandoned sessions still open`,
    platform: [await countSessions(server)],
    goal: "0",
  };
}

/** @returns bytes */
async function readMemory({ process }: Server): Promise<number> {
  process.send({});
  const [{ bytes }] = await once(process, "message") as [{ bytes: number }];
  return bytes;
}

function openMany(server: Server, count: number): Promise<Session[]> {
  return runConcurrently(count, CONCURRENCY, (n) => openSession(server, server.keys[n % KEYS]!));
}

function headers(key: string, sessionId?: string): Record<string, string> {
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    authorization: `Bearer ${key}`,
    ...(sessionId ? { "mcp-session-id": sessionId, "mcp-protocol-version": PROTOCOL } : {}),
  };
}

function post({ address }: Server, key: string, sessionId: string | undefined, message: object) {
  return fetch(`${address}/mcp`, {
    method: "POST",
    headers: headers(key, sessionId),
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
}

async function openSession(server: Server, key: string): Promise<Session> {
  const response = await post(server, key, undefined, {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: PROTOCOL,
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  });
  await response.text();
  const id = response.headers.get("mcp-session-id");
  if (!id) throw new Error(`Cannot open a session: it was answered ${response.status}`);
  await (await post(server, key, id, { method: "notifications/initialized" })).text();
  return { key, id };
}

async function openStream({ address }: Server, { key, id }: Session): Promise<AbortController> {
  const end = new AbortController();
  const init = { headers: headers(key, id), signal: end.signal };
  const response = await fetch(`${address}/mcp`, init);
  if (!response.ok) throw new Error(`Cannot open a stream: it was answered ${response.status}`);
  return end;
}

async function getsWrongAnswer(
  server: Server,
  { key, id }: Session,
  n: number,
): Promise<boolean> {
  const call = { name: "echo", arguments: { text: `for session ${n}` } };
  const response = await post(server, key, id, { id: n, method: "tools/call", params: call });
  const event = /^data: (\{.*)$/m.exec(await response.text())?.[1];
  const answer = JSON.parse(event ?? "{}");
  return answer.id !== n || answer.result.structuredContent.text !== call.arguments.text;
}

async function countSessions({ address }: Server): Promise<number> {
  const { sessions } = await (await fetch(`${address}/health`)).json() as { sessions: number };
  return sessions;
}
