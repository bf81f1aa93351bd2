import {
  describeHolder,
  findPortHolder,
  type PortHolder,
  stopHolders,
} from "../../integrations/host/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";
import { createMark, marksFolder, readMark } from "./_marks.ts";
import { type Act, notDone, type StepOutcome, unknownOutcome } from "./_outcome.ts";
import { NotApplicable } from "./errors.ts";
import type { ResolvedStep } from "./schema.ts";

/** A step that stops the process that holds a port. */
type Stop = NonNullable<ResolvedStep["stop"]>;

/** Place of the processes that a step may stop. */
interface HolderContext {
  readonly dataDir: string;
  /** Name of the service whose port it is. */
  readonly service: string;
}

/**
 * Fills in who holds the ports that steps free, so that people approve exactly that process.
 *
 * @throws {NotApplicable} nobody holds it, or who does must not be stopped: the message says who it is
 */
export async function fillHolders(
  steps: readonly ResolvedStep[],
  context: HolderContext,
): Promise<ResolvedStep[]> {
  return await Promise.all(steps.map(async (step) => {
    if (!step.stop) return step;
    const port = Number(step.stop.holder_of);
    const holder = await findPortHolder(context.dataDir, port);
    if (!holder) {
      throw new NotApplicable("no_holder", `No process can be seen that holds port ${port}`);
    }
    requireStoppable(step.stop, holder, context);
    return { ...step, stop: { ...step.stop, holder } };
  }));
}

/** Stops the process that a step names, if it still holds the port. Repeated after a crash, it goes on. */
export async function stopHolder(
  { holder, holder_of }: Stop,
  { dataDir, effectId }: Act,
): Promise<StepOutcome> {
  if (!holder) return notDone("no_holder");
  const port = Number(holder_of);
  const marks = marksFolder(dataDir, effectId);
  const wasSent = readMark(marks, "sent") !== undefined;
  const now = await findPortHolder(dataDir, port);
  if (!now) {
    return wasSent
      ? { state: "done", ok: true, code: "stopped" }
      : { ...notDone("port_is_free"), ok: true };
  }
  const isSame = now.pid === holder.pid && now.start_time === holder.start_time;
  if (!isSame && !wasSent) return notDone("another_holder");
  createMark(marks, "sent", new Date().toISOString());
  const result = await stopHolders(dataDir, port, isSame ? now : holder);
  if (result === "stopped") return { state: "done", ok: true, code: "stopped" };
  return result === "permission" ? notDone("permission") : unknownOutcome(result);
}

/** @throws {NotApplicable} the platform has not started it for nothing, and the services file does not let it be stopped */
function requireStoppable({ programs }: Stop, holder: PortHolder, { service }: HolderContext) {
  const { startedBy, service: other, program } = holder;
  const who = describeHolder(holder);
  if (startedBy === "leftover") return;
  if (startedBy === "service") {
    const whose = other === service ? "of this very service" : `of the service ${other}`;
    throw new NotApplicable("holder_in_use", `${who} holds the port: it is the process ${whose}`);
  }
  if (programs.some((glob) => matchesGlob(glob, program))) return;
  throw new NotApplicable(
    "holder_not_ours",
    `${who} holds the port; sealoop has not started it, and \`may_stop\` of the services file does not name it`,
  );
}
