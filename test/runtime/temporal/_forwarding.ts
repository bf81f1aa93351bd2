import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that a test can cut, as if the server were away. */
export interface Forwarding {
  readonly port: number;
  /** Resolves when a client has come while the way is cut. */
  refused(): Promise<unknown>;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Forwards connections to a port of this host. */
export async function forwardTo(target: number): Promise<Forwarding> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    client.on("error", () => {});
    if (isCut) {
      server.emit("refused");
      client.destroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1").on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket.once("close", () => sockets.delete(socket)));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    refused: () => once(server, "refused"),
    cut,
    restore: () => void (isCut = false),
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
