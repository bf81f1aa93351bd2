import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const MAX_DELAY_MS = 20;

/** A way to a server over which answers take a while, each another one. */
export interface SlowNetwork {
  /** The URL, changed to lead over it. */
  readonly url: string;
  close(): Promise<void>;
}

/** Opens a way to the server of a URL. Bytes arrive in order on each connection, up to 20 ms late. */
export async function openSlowNetwork(url: string): Promise<SlowNetwork> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(from);
      void forward(from, to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: ownPort } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { hostname: "127.0.0.1", port: ownPort }).href,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

async function forward(from: Socket, to: Socket): Promise<void> {
  from.on("error", () => to.destroy());
  try {
    for await (const bytes of from) {
      await sleep(Math.random() * MAX_DELAY_MS);
      to.write(bytes);
    }
  } catch {
    // closed
  }
  to.destroy();
}
