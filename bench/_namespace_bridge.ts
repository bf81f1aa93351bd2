/**
 * Brings servers of another network into this one, until the process that started it has ended:
 *
 *     node _namespace_bridge.js <folder with sockets> <ports, separated by commas>
 */
import { connect, createServer } from "node:net";
import { join } from "node:path";

const LOOK_MS = 500;

const [folder, ports] = process.argv.slice(2) as [string, string];
for (const port of ports.split(",")) {
  createServer((client) => {
    const upstream = connect(join(folder, `${port}.sock`)).on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  }).listen(Number(port), "127.0.0.1");
}
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, LOOK_MS);
