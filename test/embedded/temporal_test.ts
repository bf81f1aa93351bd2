import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { loadConfig } from "../../config.ts";
import { findTemporal, startTemporal } from "../../embedded/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { testTemporal } from "../_servers.ts";

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

  it("does not take another server for its own", async () => {
    const { address } = await testTemporal();
    const ports = { grpc: Number(address.split(":")[1]), ui: await freePort() };
    await assert.rejects(
      startTemporal(await testFolder(), ports, temporal),
      /port \d+ is in use/,
    );
  });
});

describe("findTemporal()", function () {
  this.timeout(600_000);
  const { version } = temporal.embedded;
  const { PATH, XDG_CACHE_HOME } = process.env;

  afterEach(() => {
    restore("PATH", PATH);
    restore("XDG_CACHE_HOME", XDG_CACHE_HOME);
  });

  it("prefers the command on the PATH, then the cache, and skips one that is too old", async () => {
    const real = await findTemporal(version, () => {});
    const [onPath, old, cache] = await Promise.all([testFolder(), testFolder(), testFolder()]);
    symlinkSync(real.path, join(onPath, "temporal"));
    mkdirSync(join(cache, "sealoop", `temporal-${version}`), { recursive: true });
    symlinkSync(real.path, join(cache, "sealoop", `temporal-${version}`, "temporal"));
    const script = '#!/bin/sh\necho "temporal version 0.9.0 (server 1.20.0) (Server 1.20.0)"\n';
    writeFileSync(join(old, "temporal"), script, { mode: 0o755 });
    process.env.XDG_CACHE_HOME = cache;

    process.env.PATH = `${onPath}:${PATH}`;
    assert.deepEqual(await findTemporal(version, () => {}), {
      path: join(onPath, "temporal"),
      version: real.version,
    });
    process.env.PATH = old; // without the PATH of this machine, which may have one
    assert.deepEqual(await findTemporal(version, () => {}), {
      path: join(cache, "sealoop", `temporal-${version}`, "temporal"),
      version: real.version,
    });
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
