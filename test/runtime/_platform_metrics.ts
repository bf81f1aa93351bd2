/** Tests of what the processes of a platform tell of themselves. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../../config.ts";
import { PROCESS_NAMES } from "../../contract/domain/mod.ts";
import { freePort } from "../_run.ts";
import { eventually } from "../_time.ts";

const FOLDER = join(ROOT, "deploy", "observability");
const TOKEN = "token-of-the-test-0123456789";
/** Names in expressions: those of ours, of Temporal's SDK, and of Node.js. */
const NAME = /\b(?:sealoop|temporal|nodejs|process)_[a-z0-9_]+\b/g;

/** Returns the settings of a platform whose processes serve metrics, on ports of their own. */
export async function metricsSettings(): Promise<Readonly<Record<string, string>>> {
  return {
    SEALOOP_METRICS: String(await freePorts(PROCESS_NAMES.length)),
    SEALOOP_METRICS_TOKEN: TOKEN,
  };
}

/** Describes the metrics of a platform that others have started. @param settings of it, with {@linkcode metricsSettings} */
export function describeMetrics(settings: () => Readonly<Record<string, string>>): void {
  describe("its metrics", () => {
    let first: number;
    before(() => {
      first = Number(settings().SEALOOP_METRICS);
    });

    const read = async (place: number, token = TOKEN) => {
      const response = await fetch(`http://127.0.0.1:${first + place}/metrics`, {
        headers: token ? { authorization: `Bearer ${token}` } : {},
      });
      return { status: response.status, text: await response.text() };
    };

    it("are served by every process, to whoever has the token", async () => {
      for (const [place, name] of PROCESS_NAMES.entries()) {
        const { status, text } = await read(place);
        assert.equal(status, 200);
        assert.match(
          text,
          new RegExp(`^sealoop_info\\{process="${name}",version="[^"]+"\\} 1$`, "m"),
        );
        assert.match(text, /^process_resident_memory_bytes \d/m);
        for (const wrong of ["", "Bearer", `${TOKEN}x`]) {
          assert.equal((await read(place, wrong)).status, 401);
        }
      }
    });

    it("stand beside probes that need no token: each process lives, and is ready", async () => {
      const probe = async (place: number, path: string) => {
        const response = await fetch(`http://127.0.0.1:${first + place}${path}`);
        return { status: response.status, body: await response.json() };
      };
      for (const place of PROCESS_NAMES.keys()) {
        assert.deepEqual(await probe(place, "/livez"), { status: 200, body: { alive: true } });
        const answer = await eventually(async () => {
          const answer = await probe(place, "/readyz");
          return answer.status === 200 ? answer : undefined;
        });
        assert.deepEqual(answer.body, { ready: true, reasons: [] });
        assert.equal((await probe(place, "/")).status, 404);
      }
    });

    it("tell load balancers, which name no host or an address, whether the process works", async () => {
      for (const head of ["HTTP/1.0", "HTTP/1.1\r\nhost: 10.0.0.7:9464\r\nconnection: close"]) {
        for (
          const [path, status] of [["/livez", "200"], ["/readyz", "200|503"], [
            "/metrics",
            "403",
          ]] as const
        ) {
          const socket = connect(first, "127.0.0.1");
          socket.end(`GET ${path} ${head}\r\n\r\n`);
          const answer = await text(socket);
          assert.match(answer, new RegExp(`^HTTP/1\\.1 (${status}) `), `${path} ${head}`);
        }
      }
    });

    it("count calls by the names of operations, and nothing that callers choose", async () => {
      const url = `http://127.0.0.1:${settings().SEALOOP_GATEWAY_PORT}`;
      assert.equal((await fetch(`${url}/v1/itsm/dashboard`)).status, 200);
      assert.equal((await fetch(`${url}/v1/itsm/tickets/INC-private-name`)).status, 401);
      const counted =
        /^sealoop_calls_total\{operation="itsm\.dashboard",door="rest",outcome="success"\} \d+$/m;
      const text = await eventually(async () => {
        const { text } = await read(0);
        return counted.test(text) ? text : undefined;
      });
      assert.ok(!text.includes("private-name"));
    });

    it("have every name that the rules and the dashboard use", async () => {
      const used = readdirSync(FOLDER).flatMap((file) =>
        [
          ...readFileSync(join(FOLDER, file), "utf8").matchAll(NAME),
        ].map(([name]) => name)
      );
      assert.ok(used.length > 20);
      let missing = used;
      await eventually(async () => { // some are there once a worker has worked
        const texts = await Promise.all(
          PROCESS_NAMES.map(async (_, place) => (await read(place)).text),
        );
        const printed = new Set(
          texts.join("\n").split("\n").flatMap((line) =>
            line.startsWith("# TYPE ") ? seriesOf(line.split(" ")[2]!, line.split(" ")[3]!) : []
          ),
        );
        missing = used.filter((name) => !printed.has(name));
        return missing.length === 0 || undefined;
      }).catch(() => assert.deepEqual(missing, []));
    });
  });
}

function seriesOf(name: string, type: string): string[] {
  return type === "histogram" ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** Returns the first of several free ports in a row, none of which another test gets. */
async function freePorts(count: number): Promise<number> {
  const row: number[] = [];
  while (row.length < count) {
    const port = await freePort();
    if (row.length > 0 && row[0] !== port + 1) row.length = 0;
    row.unshift(port);
  }
  return row[0]!;
}
