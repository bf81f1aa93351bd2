import { z } from "zod";
import type { Config } from "../../config.ts";
import { findCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient } from "../remote/mod.ts";

/** A Langfuse, asked about itself by its public API. */
export interface Langfuse {
  /**
   * Returns its version, and checks that it accepts our credential if there is one.
   *
   * @throws {RemoteFailed}
   */
  check(): Promise<string>;
}

const Health = z.object({ status: z.literal("OK"), version: z.string().regex(/^[\w.+-]{1,40}$/) });
const Projects = z.object({ data: z.array(z.object({})) });

/** Opens the configured Langfuse; undefined: none is. */
export function openLangfuse(
  config: Pick<Config, "settings" | "dataDir">,
): Langfuse | undefined {
  const url = config.settings.SEALOOP_LANGFUSE_URL;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: "Langfuse",
    url,
    credential: () => langfuseCredential(config),
  });
  return { check: () => check(client, hasCredential(config)) };
}

async function check(client: RemoteClient, hasCredential: boolean): Promise<string> {
  const [{ version }] = await Promise.all([
    client.read({ method: "GET", path: "/api/public/health", answer: Health }),
    ...(hasCredential
      ? [client.read({ method: "GET", path: "/api/public/projects", answer: Projects })]
      : []),
  ]);
  return version;
}

/** Returns the header of the credential `langfuse`: public and secret key with a colon between. */
export function langfuseCredential(
  config: Pick<Config, "settings" | "dataDir">,
): Record<string, string> {
  const keys = findCredential(config, "langfuse");
  if (keys === undefined) return {};
  return { authorization: `Basic ${Buffer.from(keys.trim()).toString("base64")}` };
}

function hasCredential(config: Pick<Config, "settings" | "dataDir">): boolean {
  try {
    return findCredential(config, "langfuse") !== undefined;
  } catch { // it is there, and reading it again will say so
    return true;
  }
}
