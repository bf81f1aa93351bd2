/**
 * The least that an answer over HTTP can cost: a Koa application that gives the same text each time, and reads what JSON it
 * is sent.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";

const text = readFileSync(process.argv[2]!, "utf8");
const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === "POST") JSON.parse(await read(ctx.req));
  ctx.type = "application/json; charset=utf-8";
  ctx.body = text;
});
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ ready: true, address: `http://127.0.0.1:${port}` });
});

async function read(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

process.on("disconnect", () => process.exit(0));
