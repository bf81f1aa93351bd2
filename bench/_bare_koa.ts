/** The least that an answer over HTTP can cost: a Koa application that gives the same text each time. */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import Koa from "koa";

const text = readFileSync(process.argv[2]!, "utf8");
const app = new Koa();
app.use((ctx) => {
  ctx.type = "application/json; charset=utf-8";
  ctx.body = text;
});
const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ ready: true, address: `http://127.0.0.1:${port}` });
});
process.on("disconnect", () => process.exit(0));
