/** A MeshCentral of a test, which speaks as the real one does; `test/remote/` asks that one. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { SECRET } from "./_hostile.ts";

/** Account that the stub knows, by its secret. */
export const MESH_USER = "~t:ourToken";
const AUTH = [MESH_USER, SECRET].map((text) => Buffer.from(text).toString("base64")).join(",");
const GROUP = "mesh//8G6GF9khQphtHYYEec9qrrZ8CRqgGCxsZt03gm9BDrRYSQJqCJfQ8HrXSM";
const NODES = {
  [GROUP]: [
    {
      type: "node",
      _id: "node//aa",
      meshid: GROUP,
      name: "web-1",
      host: "web-1.example",
      ip: "192.0.2.7",
      conn: 1,
      pwr: 1,
      agent: { id: 6, caps: 31 },
      users: ["root"],
    },
    { type: "node", _id: "node//bb", meshid: GROUP, name: "printer-1", host: "192.0.2.9" },
  ],
};

/** Starts one. */
export async function startMeshStub() {
  const server = createServer((_, response) => response.end());
  const sockets = new WebSocketServer({ server, path: "/control.ashx" });
  let isAway = false;
  sockets.on("connection", (socket, request) => {
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    if (isAway) return socket.terminate();
    if (request.headers["x-meshauth"] !== AUTH) {
      send({ action: "close", cause: "noauth", msg: "noauth-2d" });
      return socket.close();
    }
    send({ action: "serverinfo", serverinfo: { domain: "", name: "mesh.example" } });
    send({ action: "userinfo", userinfo: { _id: `user//${MESH_USER}`, links: {} } });
    socket.on("message", (data) => {
      const { action, responseid } = JSON.parse(data.toString());
      send({ action: "event", event: { action: "accountchange" } });
      if (action === "nodes") send({ action, responseid, nodes: NODES });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goAway() {
      isAway = true;
    },
    close() {
      for (const one of sockets.clients) one.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}
