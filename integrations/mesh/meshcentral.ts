import { z } from "zod";
import type { Config } from "../../config.ts";
import { readCredential } from "../channels/mod.ts";
import { openRemoteSocket, remember, type SocketFailure, type SocketMove } from "../remote/mod.ts";

/** A device that MeshCentral knows. */
export interface MeshDevice {
  readonly id: string;
  readonly name: string;
  /** Name or address that it was last seen at, or is expected at; null: none is known. */
  readonly address: string | null;
  /** True: MeshCentral is connected with it now, by an agent or by its management hardware. */
  readonly isConnected: boolean;
}

/** A MeshCentral of the operator's. */
export interface MeshClient {
  /** Lists the devices that our account may see, as they were in the last ten seconds. @throws {RemoteFailed} */
  listDevices(): Promise<readonly MeshDevice[]>;
  /** As a client's. */
  pause(): string | undefined;
}

/** Names our question in the answer. Others of the same connection would have none. */
const RESPONSE_ID = "sealoop";

const Text = z.string().max(2_000).transform((text) => text.slice(0, 200));
const Message = z.looseObject({ action: z.string() });
const Device = z.object({
  _id: z.string().max(200),
  name: Text,
  ip: Text.nullish(),
  host: Text.nullish(),
  // A bit for each way: agent, CIRA, Intel AMT, relay, MQTT. Missing: there is none.
  conn: z.number().int().min(0).nullish(),
});
/** Devices by their group. */
const Devices = z.object({
  responseid: z.literal(RESPONSE_ID),
  nodes: z.record(z.string(), z.array(Device)),
});

/** Opens the client of a MeshCentral, if its URL is set. @see https://meshcentral.com */
export function openMeshCentral(config: Config): MeshClient | undefined {
  const { SEALOOP_MESHCENTRAL_URL: url, SEALOOP_MESHCENTRAL_USER: user } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteSocket({
    system: "MeshCentral",
    url,
    credential: () => ({
      "x-meshauth": [user, readCredential(config, "meshcentral")].map(base64).join(","),
    }),
  });
  return {
    listDevices: remember(() => client.read({ path: "/control.ashx", receive })),
    pause: client.pause,
  };
}

/** MeshCentral greets whom it accepts with `serverinfo`, closes with `close`, and tells its news in between. */
function receive(
  message: unknown,
  fail: SocketFailure,
): SocketMove<readonly MeshDevice[]> | undefined {
  const { success, data } = Message.safeParse(message);
  if (!success) throw fail.shape();
  if (data.action === "close") throw fail.credential();
  if (data.action === "serverinfo") return { send: [{ action: "nodes", responseid: RESPONSE_ID }] };
  if (data.action !== "nodes") return undefined;
  const answer = Devices.safeParse(data);
  if (!answer.success) throw fail.shape();
  const devices = Object.values(answer.data.nodes).flat();
  return {
    answer: devices.map(({ _id, name, ip, host, conn }) => ({
      id: _id,
      name,
      address: ip ?? host ?? null,
      isConnected: (conn ?? 0) > 0,
    })),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
