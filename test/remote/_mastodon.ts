/** `mastodon-mock` from PyPI: others' implementation of Mastodon's API, with a database. It is not the real server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../_run.ts";

/** Module and name of its pins. */
export const MASTODON_MOCK = ["mastodon_mock", "mastodon-mock"] as const;
/** Token of its one account. */
export const MOCK_TOKEN = "mock_token";

/** Serves it on loopback. @param python program that can import it */
export async function startMastodonMock(python: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(
    python,
    ["-m", "mastodon_mock", "serve", "--in-memory", "--host", "127.0.0.1", "--port", String(port)],
    { stdio: "ignore" },
  );
  const ended = once(server, "exit");
  for (let n = 0; n < 300 && server.exitCode === null; n++) {
    if (await fetch(`${url}/api/v1/instance`).then(() => true, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      server.kill();
      await ended;
    },
  };
}
