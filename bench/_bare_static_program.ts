/** The least that a download can cost: `_bare_static_program.ts <file>` streams the file, until it is disconnected. */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const path = process.argv[2]!;
const headers = { "content-type": "application/x-ndjson", "content-length": statSync(path).size };
process.once("disconnect", () => process.exit(0));
const server = createServer((_, res) => {
  res.writeHead(200, headers);
  createReadStream(path).pipe(res);
}).listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send!({ address: `http://127.0.0.1:${port}` });
});
