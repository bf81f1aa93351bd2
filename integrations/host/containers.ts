import { existsSync } from "node:fs";
import { request } from "node:http";

/** The engine of this host's containers. */
export interface ContainerEngine {
  /** Sends a request to Docker's API. @throws where it does not answer in time */
  ask(
    method: "GET" | "POST",
    path: string,
    timeoutMs: number,
  ): Promise<{ readonly status: number; readonly body: Buffer }>;
}

/**
 * Opens an engine with Docker's API: that which `DOCKER_HOST` names, Docker's own, or Podman's.
 *
 * @returns undefined: there is none
 * @see https://docs.docker.com/reference/api/engine/
 */
export function openContainerEngine(): ContainerEngine | undefined {
  const named = process.env.DOCKER_HOST?.replace(/^unix:\/\//, "");
  const socketPath = [named, "/var/run/docker.sock", "/run/podman/podman.sock"]
    .find((path) => path?.startsWith("/") && existsSync(path));
  if (!socketPath) return undefined;
  return {
    ask: (method, path, timeout) =>
      new Promise((resolve, reject) => {
        const sent = request({ socketPath, method, path, timeout }, async (response) => {
          try {
            const parts: Buffer[] = [];
            for await (const part of response) parts.push(part as Buffer);
            resolve({ status: response.statusCode!, body: Buffer.concat(parts) });
          } catch (error) {
            reject(error);
          }
        });
        const late = () => sent.destroy(new Error("The container engine did not answer in time"));
        sent.on("timeout", late).on("error", reject).end();
      }),
  };
}
