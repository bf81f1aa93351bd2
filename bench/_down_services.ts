import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Service } from "../integrations/host/mod.ts";

/** Code of the finding about a service that is down. */
export const DOWN_CODE = "status_500";

/** Services that are down until their restart has touched a file. */
export interface DownServices {
  /** Describes a service of this name. */
  describe(name: string): Service;
  close(): Promise<void>;
}

/** Serves the health checks of such services. @param folder for the files */
export async function openDownServices(folder: string): Promise<DownServices> {
  const fileOf = (name: string) => join(folder, `is-up-${name}`);
  const server = createServer((req, res) =>
    res.writeHead(existsSync(fileOf(req.url!.slice(1))) ? 200 : 500).end()
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    describe: (name) => ({
      name,
      type: "bench",
      host: "localhost",
      owner: null,
      origin: "test",
      watched: false,
      dependsOn: [],
      check: { http: `http://127.0.0.1:${port}/${name}` },
      restart: { command: ["touch", fileOf(name)] },
    }),
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
