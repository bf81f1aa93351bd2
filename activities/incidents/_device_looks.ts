/** Looks at devices: read-only scripts of the catalogue, run as commands. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { orderCommand } from "../../operations/devices/orders/mod.ts";
import type { ScriptDocument } from "../../judgement/catalogue/mod.ts";
import { hasCommandEnded, LOOP_ACTOR } from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import { NotHad } from "../../judgement/observation/mod.ts";
import { getScript } from "../../store/catalogue/mod.ts";
import { getApprovers, getDeviceCommand } from "../../store/devices/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Time of a device to get a command, run it and state its end. A source has nine seconds. */
const WITHIN_SECONDS = 7;
const POLL_MS = 200;

/**
 * Creates the function by which a source has a device run a read-only script. The same look again gives the same command.
 *
 * @param look names the collection
 */
export function createDeviceReader(
  parts: Pick<ActivityParts, "store" | "temporal">,
  look: string,
) {
  const { db } = parts.store;

  return async function runOnDevice(deviceId: string, scriptId: string): Promise<string> {
    const script = await getScript(db, scriptId);
    if (!(script?.document as ScriptDocument | undefined)?.read_only) throw new NotHad("no_script");
    const { signatures_required = 0 } = (await getApprovers(db))?.approvers ?? {};
    if (signatures_required > 0) throw new NotHad("needs_signatures"); // nobody is asked for a look
    const hash = createHash("sha256").update(`${look}\n${deviceId}\n${scriptId}`).digest("hex");
    const id = `CMD-${hash.slice(0, 12)}`;
    await orderCommand(parts, {
      id,
      deviceId,
      script_id: scriptId,
      parameters: {},
      expires_in_seconds: WITHIN_SECONDS,
      needed: 0, // it changes nothing
      grounds: groundsOf({ rule: "look", reasons: ["A look of the incident loop"] }),
      askedBy: LOOP_ACTOR,
      askedByKey: null,
    }).catch((error) => {
      throw new NotHad(String((error as { code?: unknown }).code ?? "refused").toLowerCase());
    });
    const deadline = performance.now() + WITHIN_SECONDS * 1_000;
    while (performance.now() < deadline) {
      const { status, code, output, outputSha256 } = (await getDeviceCommand(db, id))!;
      if (status === "done" && (output || !outputSha256)) return output?.toString("utf8") ?? "";
      if (status !== "done" && hasCommandEnded(status)) throw new NotHad(code ?? status);
      await sleep(POLL_MS);
    }
    throw new NotHad("timeout");
  };
}
