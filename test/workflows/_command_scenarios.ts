/** Scenarios of commands for devices whose histories are recorded. */
import { sign } from "node:crypto";
import type { WorkflowHandle } from "@temporalio/client";
import { groundsOf } from "../../contract/records/mod.ts";
import { loadScripts, releaseScripts } from "../../judgement/catalogue/mod.ts";
import { type CommandOrder, orderCommand } from "../../operations/devices/orders/mod.ts";
import { commandChangedSignal, type DeviceStatement } from "../../contract/domain/mod.ts";
import { listBundles, sealStatement } from "../../operations/devices/protocol/mod.ts";
import { canonicalize, getPublishedCheckpoint } from "../../ledger/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { getDevice } from "../../store/devices/mod.ts";
import { addTestDevice, type TestDevice } from "../operations/devices/protocol/_devices.ts";
import { storeAs } from "../_servers.ts";
import { eventually } from "../_time.ts";
import type { TestLoop } from "./_loop.ts";

/** Functions by which scenarios act on runs. */
interface Ways {
  ended(run: WorkflowHandle): Promise<WorkflowHandle>;
  speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<unknown>;
}

/** Returns the scenarios by the names of their files. */
export function commandScenarios(
  loop: TestLoop,
  { ended, speak }: Ways,
): Record<string, () => Promise<WorkflowHandle>> {
  let device: TestDevice | undefined;

  async function order(id: string, fields: Partial<CommandOrder> = {}): Promise<WorkflowHandle> {
    await releaseScripts(loop.store, loadScripts());
    device ??= await addTestDevice(
      await storeAs(loop.store, "gateway"),
      "http://recorder",
      "platform",
    );
    const { workflow_id } = await orderCommand(loop, {
      id: `CMD-0000000000${id}`,
      deviceId: device.id,
      script_id: "uptime",
      needed: 1,
      grounds: groundsOf({ rule: "recorded" }),
      askedBy: "recorder",
      askedByKey: null,
      ...fields,
    });
    return loop.client.workflow.getHandle(workflow_id);
  }
  const approvalOf = (run: WorkflowHandle) =>
    loop.client.workflow.getHandle(run.workflowId.replace("command-CMD", "approval-APR"));

  /** Plays the device: it gets the command, begins it and ends it. */
  async function play(run: WorkflowHandle): Promise<void> {
    const store = await storeAs(loop.store, "gateway");
    const record = (await getDevice(store.db, device!.id))!;
    const bundle = await eventually(async () => {
      const { size } = (await getPublishedCheckpoint(store))!;
      return (await listBundles(store, record, size))[0];
    });
    const { command_id } = bundle.command;
    for (const [sequence, phase] of (["begun", "ended"] as const).entries()) {
      const statement: Omit<DeviceStatement, "signature"> = {
        action: "command_execution",
        command_id,
        phase,
        status: phase === "begun" ? "begun" : "done",
        ...(phase === "ended" ? { exit_code: 0 } : {}),
        sequence: sequence + 1,
        nonce: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
      };
      const signature = sign(null, Buffer.from(canonicalize(statement)), device!.runner.privateKey);
      const signed = { ...statement, signature: signature.toString("hex") };
      await sealStatement({ store, sealer: loop.sealer }, record, signed);
      await run.signal(commandChangedSignal).catch(() => {}); // it may have seen the end already
    }
  }

  return {
    "deviceCommand.done": async () => {
      const run = await order("b1");
      await speak(approvalOf(run), "approved", "ann");
      await play(run);
      return await ended(run);
    },
    "deviceCommand.denied": async () => {
      const run = await order("b2");
      await speak(approvalOf(run), "denied", "ann");
      return await ended(run);
    },
    "deviceCommand.expired": async () =>
      await ended(await order("b3", { needed: 0, expires_in_seconds: 3 })),
    "deviceCommand.cancelled": async () => {
      const run = await order("b4");
      await run.cancel();
      return await ended(run);
    },
  };
}
