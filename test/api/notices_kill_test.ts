import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { EventSource } from "eventsource";
import { ROOT } from "../../config.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import { program } from "../_programs.ts";
import { freePort, testFolder } from "../_run.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";
import { sized } from "../_size.ts";
import { eventually } from "../_time.ts";

const KILLS = sized(20);
const WRITERS = 8;

describe("the feed's stream, at a gateway that is killed with -9", () => {
  let database: TestDatabase;
  let store: Store;
  let port: number;
  let gateway: ChildProcess | undefined;
  let folder: string;
  before(async () => {
    folder = await testFolder(); // the same at each start, as its secrets are
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker", WRITERS);
    port = await freePort();
  });
  after(async () => {
    gateway?.kill("SIGKILL");
    await store?.close();
    await database?.drop();
  });

  async function start(): Promise<void> {
    gateway = spawn(process.execPath, [await program("processes/gateway.ts")], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.urls.owner,
        SEALOOP_DATABASE_GATEWAY_URL: database.urls.gateway,
        SEALOOP_GATEWAY_PORT: String(port),
        SEALOOP_DATA: folder,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    gateway.stdout!.resume();
    await eventually(() =>
      fetch(`http://127.0.0.1:${port}/v1/health`).then(({ ok }) => ok || undefined, () => undefined)
    );
  }

  it("loses nothing for a client that people use, and tells nothing twice", async () => {
    const { key } = await giveKey({ url: database.superuserUrl }, { tenant: "acme" });
    await start();
    const seen: { id: number; text: string }[] = [];
    const source = new EventSource(`http://127.0.0.1:${port}/v1/comms/stream`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, "x-api-key": key } } as RequestInit),
    });
    source.addEventListener("message", ({ data, lastEventId }) => {
      seen.push({ id: Number(lastEventId), text: JSON.parse(data).text });
    });
    await new Promise((resolve) => source.addEventListener("position", resolve, { once: true }));
    let writing = true;
    let written = 0;
    const writers = Array.from({ length: WRITERS }, async () => {
      while (writing) {
        const text = String(++written);
        await addMessage(store.asTenant("acme"), { kind: "said", from: "", subject: "", text });
        await sleep(5);
      }
    });
    const more = async () => {
      const enough = seen.length + 20;
      await eventually(() => Promise.resolve(seen.length >= enough || undefined));
    };
    for (let kill = 0; kill < KILLS; kill++) {
      await more(); // the gateway is in the middle of it
      gateway!.kill("SIGKILL");
      await once(gateway!, "exit");
      await start();
    }
    await more();
    writing = false;
    await Promise.all(writers);
    await eventually(() => Promise.resolve(seen.length >= written || undefined));
    source.close();
    assert.deepEqual(seen.map(({ id }) => id), Array.from({ length: written }, (_, n) => n + 1));
    assert.equal(new Set(seen.map(({ text }) => text)).size, written);
  });
});
