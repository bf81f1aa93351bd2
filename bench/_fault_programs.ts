/** Programs that break by themselves, in Python and for Node. Nothing in their names or paths tells how. */

/** A server of Python whose `answer(server)` returns a status and a body. It takes a thread for each request. */
const python = (body: string): string =>
  `import http.server, os, socket, sys, threading, time, json, traceback
PORT = int(sys.argv[1])
class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    def log_message(self, *rest): pass
    def do_GET(self):
        try:
            status, text = answer(self)
        except Exception:
            traceback.print_exc()
            status, text = 500, "internal error"
        sys.stderr.flush()
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())
${body}
http.server.ThreadingHTTPServer.daemon_threads = True
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
`;

/** A server for Node whose `answer(request, response)` ends the response. */
const node = (body: string): string =>
  `import http from "node:http"; import fs from "node:fs"; import path from "node:path";
import { Worker, isMainThread, workerData } from "node:worker_threads";
const port = Number(process.argv[2]);
${body}
if (isMainThread) http.createServer((req, res) => {
  Promise.resolve(answer(req, res)).catch((error) => { console.error(error); res.writeHead(500).end("internal error"); });
}).listen(port, "127.0.0.1");
`;

/** Memory: 6 MiB stay with every request. */
export const KEEPS_ANSWERS: string = python(`kept = []
def answer(_):
    kept.append(bytearray(6 << 20))
    return 200, "ok"`);

/** Memory: objects stay until the heap is full, and the program ends. */
export const KEEPS_SESSIONS: string = node(`const sessions = new Map();
function answer(req, res) {
  for (let i = 0; i < 40000; i++) sessions.set(Symbol(), { at: Date.now(), path: req.url + i });
  res.end("ok");
}`);

/** Descriptors: what is opened stays open, and the system's words are printed. */
export const OPENS_TEMPLATES: string = python(`opened = []
def answer(_):
    opened.extend(open(__file__) for _ in range(4))
    return 200, "ok"`);

/** Descriptors: what is opened stays open, and nobody says so. */
export const OPENS_REPORTS: string = node(`const opened = [];
function answer(req, res) {
  try {
    for (let i = 0; i < 6; i++) opened.push(fs.openSync(process.argv[1]));
    res.end("ok");
  } catch {
    console.error(new Date().toISOString() + " ERROR report generator gave up");
    res.writeHead(503).end('{"status":"unavailable"}');
  }
}`);

/** Threads: two take the same two locks in another order; requests need one of them. */
export const BOOKS_TWICE: string = python(`stock, ledger = threading.Lock(), threading.Lock()
def book(first, second):
    with first:
        time.sleep(0.3)
        with second: pass
def answer(server):
    if server.path == "/book":
        for pair in ((stock, ledger), (ledger, stock)):
            threading.Thread(target=book, args=pair, daemon=True).start()
        return 200, "ok"
    with stock: return 200, "ok"`);

/** Threads: two workers wait for each other, and the server for one of them. */
export const SETTLES_TWICE: string = node(`let settle;
if (isMainThread) {
  const cells = new SharedArrayBuffer(8);
  const workers = [0, 1].map((own) => new Worker(new URL(import.meta.url), { workerData: { cells, own } }));
  settle = (stuck) => new Promise((done) => {
    for (const worker of workers) worker.postMessage(stuck);
    workers[0].once("message", done);
  });
} else {
  const cells = new Int32Array(workerData.cells);
  const { parentPort } = await import("node:worker_threads");
  parentPort.on("message", (stuck) => {
    if (stuck) Atomics.wait(cells, workerData.own, 0);
    Atomics.store(cells, 1 - workerData.own, 1);
    Atomics.notify(cells, 1 - workerData.own);
    parentPort.postMessage("done");
  });
}
async function answer(req, res) { await settle(req.url === "/book"); res.end("ok"); }`);

/** Settings: read at the start from an INI file. */
export const READS_INI: string = python(`import configparser
settings = configparser.ConfigParser()
settings.read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "app.ini"))
limit = settings.getint("pool", "size")
def answer(_): return 200, f"ok {limit}"`);

/** Settings: read at the start, used with each request. */
export const READS_JSON: string = node(`const file = new URL("settings.json", import.meta.url);
const settings = JSON.parse(fs.readFileSync(file, "utf8"));
function answer(req, res) {
  try { res.end("rate " + settings.prices.currency.toUpperCase()); }
  catch (error) { console.error("cannot price:", error.message); res.writeHead(500).end("pricing is off"); }
}`);

/** Nothing is wrong with it. */
export const PLAIN_PYTHON: string = python(`def answer(_): return 200, "ok"`);

/** Nothing is wrong with it. It ends where it can't listen, and says so in a file. */
export const PLAIN_NODE: string = node(`function answer(req, res) { res.end("ok"); }
process.on("uncaughtException", (error) => {
  fs.appendFileSync(path.join(path.dirname(process.argv[1]), "server.log"),
    new Date().toISOString() + " FATAL cannot start: " + error.message + "\\n");
  process.exit(3);
});`);

/** Another program that listens on a port. */
export const SQUATTER: string = python(`def answer(_): return 404, "nothing here"`);

/** Clock: two hours ahead. */
export const AHEAD: string = python(
  `Server.date_time_string = lambda *_: time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 7200))
def answer(_):
    print("jwt rejected: token is used before it was issued", file=sys.stderr)
    return 401, "token rejected"`,
);

/** Clock: a day behind. */
export const BEHIND: string = node(`function answer(req, res) {
  res.setHeader("Date", new Date(Date.now() - 86400000).toUTCString());
  res.writeHead(500).end('{"error":"request signature outside of its window"}');
}`);

/** Disk: writes what it gets into a folder, and prints why it can't. */
export const SPOOLS: string = python(`folder = os.environ["SPOOL"]
count = 0
def answer(_):
    global count
    count += 1
    with open(os.path.join(folder, f"{time.time_ns()}-{count}.msg"), "wb") as out: out.write(b"x" * 200000)
    return 200, "ok"`);

/** Disk: the same, and keeps silent about the reason. */
export const STORES: string = node(`const folder = process.argv[3];
let count = 0;
function answer(req, res) {
  try { fs.writeFileSync(path.join(folder, Date.now() + "-" + ++count + ".bin"), Buffer.alloc(200000)); res.end("ok"); }
  catch { console.error("upload rejected"); res.writeHead(503).end("uploads are paused"); }
}`);

/** TLS: serves the certificate in its folder. */
export const SERVES_TLS: string = `import http.server, os, ssl, sys
folder = os.path.dirname(os.path.abspath(__file__))
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(folder, "front.pem"))
class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *rest): pass
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Server)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
`;

/** Asks another server over HTTP or HTTPS, and says little of what it got. */
export const ASKS: string = node(
  `const lib = await import(process.env.PARTNER.startsWith("https:") ? "node:https" : "node:http");
const words = process.env.WORDS;
if (words) { console.error(words); for (let i = 0; i < 30; i++) console.error("request served, slot " + i); }
function answer(req, res) {
  const request = lib.get(process.env.PARTNER, { timeout: 1500 }, (reply) => {
    reply.resume();
    reply.once("end", () => res.end("ok"));
  });
  request.on("timeout", () => request.destroy(new Error("partner gave no reply in time")));
  request.on("error", (error) => {
    console.error("partner: " + error.message);
    if (!res.headersSent) res.writeHead(502).end("partner is not usable");
  });
}`,
);

/** Asks another server, and waits as long as it takes. */
export const ASKS_PATIENTLY: string = python(`import urllib.request
def answer(_):
    with urllib.request.urlopen(os.environ["STOCK"]) as reply: return 200, reply.read().decode()`);

/** Connects to a host by its name. */
export const CONNECTS: string = python(
  `print(os.environ.get("WORDS", "INFO ready"), file=sys.stderr)
def answer(_):
    with socket.create_connection((os.environ["ORDERS_HOST"], 5432), 2): return 200, "ok"`,
);

/** Connects to a host that its settings name. */
export const QUEUES: string = node(`import net from "node:net";
const { queue } = JSON.parse(fs.readFileSync(new URL("settings.json", import.meta.url), "utf8"));
function answer(req, res) {
  const socket = net.connect(queue.port, queue.host, () => res.end("ok"));
  socket.on("error", (error) => { console.error("queue: " + error.message); res.writeHead(503).end("queue offline"); });
}`);
