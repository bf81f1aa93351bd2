/**
 * The small real service of a test incident. Plain JavaScript, so that it starts at once.
 *
 *     node test_service.js <port> <folder>
 *
 * It serves GET /health, writes a line to <folder>/starts.log at each start, keeps <folder>/spool within a quota
 * (emptying it when it starts), and answers wrongly after POST /break.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const QUOTA_BYTES = 64 * 1024;
const [port, folder] = process.argv.slice(2);
const spool = join(folder, "spool");
rmSync(spool, { recursive: true, force: true });
mkdirSync(spool, { recursive: true });
appendFileSync(
  join(folder, "starts.log"),
  `${process.pid} ${process.env.SEALOOP_EFFECT ?? "first"}\n`,
);

let wrong = false;

function used() {
  return readdirSync(spool).reduce((sum, name) => sum + statSync(join(spool, name)).size, 0);
}

createServer((req, res) => {
  if (req.method === "POST" && req.url === "/break") wrong = true;
  const status = wrong ? 500 : used() > QUOTA_BYTES ? 507 : 200;
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify({ status: status === 200 ? "ok" : "broken" }));
}).listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
