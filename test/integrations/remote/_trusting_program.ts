/** Asks servers with the guarded client, in a process that trusts the authority of their certificates. */
import { openRemoteClient, type RemoteFailed } from "../../../integrations/remote/mod.ts";

for (const url of process.argv.slice(2)) {
  const work = openRemoteClient({ system: "OPA", url, timeoutMs: 60_000 })
    .read({ method: "GET", path: "/" });
  console.log(
    await work.then(() => "ok", ({ code, outcome }: RemoteFailed) => `${code} ${outcome}`),
  );
}
