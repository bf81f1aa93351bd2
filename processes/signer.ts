import { join } from "node:path";
import { BadSetting } from "../config.ts";
import { serveKey } from "../ledger/mod.ts";
import { type ProcessParts, type RunningProcess, runProcess } from "./_process.ts";

await runProcess("signer", startSigner);

/** Signs for the sequencer, which then needs no key of its own. It has neither database nor network. */
async function startSigner({ config, log }: ProcessParts): Promise<RunningProcess> {
  const socket = config.settings.SEALOOP_SIGNER_SOCKET;
  if (socket === undefined) {
    throw new BadSetting("Set SEALOOP_SIGNER_SOCKET to the path of the socket to listen on");
  }
  const { publicKey, close } = await serveKey(join(config.dataDir, "ledger.key"), socket);
  log.info({ publicKey: publicKey.toString("hex"), socket }, "signer");
  return { stop: close };
}
