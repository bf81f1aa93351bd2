/** A server that shows the ledger of a vector: its API, and the genuine page, which checks it in a browser. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import Koa from "koa";
import { bindSite } from "../../../ledger/page/mod.ts";
import type { ServerVector } from "./_vectors.ts";

/** A running server. */
export interface VectorServer {
  /** Without a slash at the end. */
  readonly address: string;
  /** Shows a ledger from now on. */
  show(vector: ServerVector, records: readonly string[]): void;
  stop(): Promise<void>;
}

/** Starts a server that shows nothing yet. */
export async function startVectorServer(): Promise<VectorServer> {
  let shown: { vector: ServerVector; records: readonly string[] } | undefined;
  const site = createSite();
  const server = createServer((request, response) => {
    const url = new URL(request.url!, "http://x");
    const isAnswered = shown !== undefined && answer(shown, url, request, response);
    if (!isAnswered) site(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show: (vector, records) => void (shown = { vector, records }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The genuine page, of a ledger of which the server says nothing. */
function createSite() {
  const answers: Readonly<Record<string, unknown>> = {
    "public_ledger.stats": {
      total_receipts: 0,
      chain_intact: true,
      breaks: 0,
      verified_through: -1,
      last_timestamp: null,
      genesis_timestamp: null,
      self_heals: 0,
      platform_fixes: 0,
      provenance_summary: {},
    },
    "public_ledger.activity": { days: [] },
    "public_ledger.receipts": { total: 0, next_before: null, receipts: [] },
    "public_ledger.anchors": {
      anchored_receipts: 0,
      anchored_share: 0,
      newest_block_height: null,
      pending: { receipts: 0, unbatched_receipts: 0 },
    },
    "public_ledger.how_to_verify": { keys: [], log: { verifier_key: null } },
  };
  const router = new Router();
  bindSite(router, { call: (name) => Promise.resolve(answers[name]), ledgerUrl: "" });
  return new Koa().use(router.routes()).callback();
}

interface Shown {
  readonly vector: ServerVector;
  readonly records: readonly string[];
}

/** @returns false where the path is not one of the API */
function answer(
  { vector, records }: Shown,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { named, checkpoint, total } = vector;
  switch (url.pathname) {
    case "/api/how-to-verify":
      response.end(vector.namedText ?? JSON.stringify(named));
      return true;
    case "/checkpoint":
      response.writeHead(checkpoint === null ? 404 : 200).end(checkpoint ?? "");
      return true;
    case "/api/stats":
      response.end(JSON.stringify({
        total_receipts: total,
        last_hash: records.at(-1)?.match(/.*"hash_sha256": ?"(\w*)"/)?.[1] ?? "",
        chain_intact: true,
        breaks: 0,
        verified_through: total - 1,
      }));
      return true;
    case "/api/export":
      sendExport({ vector, records }, url, request, response);
      return true;
    default:
      return false;
  }
}

function sendExport(
  { vector: { total, cutAfter, behind = "", before }, records }: Shown,
  { searchParams }: URL,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const from = Number(searchParams.get("from") ?? 0);
  const to = Number(searchParams.get("to") ?? records.length);
  const range = records.slice(from, to);
  const isStream = headers.accept?.includes("application/x-ndjson");
  if (isStream) response.setHeader("x-ledger-size", total);
  const twice = before ? `"receipts":[${before.slice(from, to)}],` : "";
  const page = `{"from":${from},"to":${
    from + range.length
  },"total":${total},${twice}"receipts":[${range}]}`;
  const lines = range.map((record) => `${record}\n`).join("");
  const text = (isStream && !before ? lines : page) + behind;
  if (cutAfter === undefined) return void response.end(text);
  const sent = records.slice(0, from).reduce((sum, { length }) => sum + length + 1, 0);
  response.write(text.slice(0, Math.max(1, cutAfter - sent)), () => response.destroy());
}
