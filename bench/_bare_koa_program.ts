/**
 * The least that an answer over HTTP can cost: a Koa application that parses the JSON it is sent and returns the same text
 * each time. `_bare_koa_program.ts <file of the text>`, until it is disconnected.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";

const text = readFileSync(process.argv[2]!, "utf8");
const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method === "POST") JSON.parse(await readBody(ctx.req));
  ctx.type = "application/json; charset=utf-8";
  ctx.body = text;
});
process.once("disconnect", () => process.exit(0));
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send!({ address: `http://127.0.0.1:${port}` });
});

async function readBody(request: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
