/** From what a caller asks for to the command that a device runs. */
import {
  fillArguments,
  type ScriptDocument,
  type ScriptValues,
} from "../../../judgement/catalogue/mod.ts";
import { describeUnknownName, InvalidInput, Problem } from "../../../contract/mod.ts";
import { DEVICE_LIMITS, type DeviceCommand } from "../../../contract/domain/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { getScript, listScripts } from "../../../store/catalogue/mod.ts";
import type { DeviceRecord } from "../../../store/devices/mod.ts";

/** Limits of arguments that no script has. */
const FREE = { timeoutSeconds: 60, outputBytes: 65_536 } as const;

/** A script of the catalogue, or arguments of the caller's own, that a device is to run. */
export interface CommandRequest {
  readonly script_id?: string | undefined;
  readonly parameters?: ScriptValues | undefined;
  /** Program and arguments. */
  readonly command?: readonly string[] | undefined;
  readonly reason?: string | undefined;
  readonly timeout_seconds?: number | undefined;
}

/** A command before it has an id, a device and an expiry. */
export interface ResolvedCommand extends
  Pick<
    DeviceCommand,
    "argv" | "user" | "timeout_seconds" | "output_bytes" | "read_only" | "script"
  > {
  /** For people. */
  readonly description: string;
}

/**
 * Resolves a request by the released scripts.
 *
 * @throws {InvalidInput} a value is missing or of another form
 * @throws {Problem} `NotFound`: there is no such script; `Conflict`: it is not for the device's system
 */
export async function resolveCommand(
  db: Db,
  request: CommandRequest,
  device?: Pick<DeviceRecord, "id" | "platform">,
): Promise<ResolvedCommand> {
  const { script_id, parameters = {}, command, reason = "", timeout_seconds } = request;
  if ((script_id === undefined) === (command === undefined)) {
    throw wrong("script_id", "Expected either script_id or command");
  }
  if (script_id === undefined) return freeCommand(command!, reason, timeout_seconds);
  const release = await getScript(db, script_id);
  if (!release) {
    const names = (await listScripts(db)).map(({ name }) => name);
    const otherwise = "docs/scripts.md lists those that ship";
    throw new Problem("NotFound", describeUnknownName("script", script_id, names, otherwise));
  }
  const { version, sha256 } = release;
  const script = release.document as ScriptDocument;
  if (device && !(script.platforms as readonly string[]).includes(device.platform)) {
    throw new Problem(
      "Conflict",
      `Cannot run ${script_id} on ${device.id}, which runs ${device.platform}: it is for ${
        script.platforms.join(", ")
      }`,
    );
  }
  const timeout = timeout_seconds ?? script.timeout_seconds;
  if (timeout > script.timeout_seconds) {
    throw wrong("timeout_seconds", `${script_id} takes at most ${script.timeout_seconds} seconds`);
  }
  return {
    argv: fillArguments(script, parameters),
    user: script.user,
    timeout_seconds: timeout,
    output_bytes: script.output_bytes,
    read_only: script.read_only,
    script: { id: script_id, version, sha256 },
    description: script.title + (reason ? `: ${reason}` : ""),
  };
}

function freeCommand(
  argv: readonly string[],
  reason: string,
  timeoutSeconds: number = FREE.timeoutSeconds,
): ResolvedCommand {
  if (reason === "") throw wrong("reason", "Expected a reason, as people decide about it");
  if (Buffer.byteLength(argv.join("")) > DEVICE_LIMITS.argumentBytes) {
    throw wrong("command", `Expected at most ${DEVICE_LIMITS.argumentBytes} bytes in all`);
  }
  return {
    argv,
    user: "agent",
    timeout_seconds: timeoutSeconds,
    output_bytes: FREE.outputBytes,
    read_only: false,
    script: null,
    description: reason,
  };
}

const wrong = (field: string, msg: string) =>
  new InvalidInput([{ path: [field], msg, type: "value_error" }]);

/** Returns arguments as a shell line that means the same, for people and for the guardrails. */
export function showArguments(argv: readonly string[]): string {
  return argv.map((one) => /^[\w@%+=:,./-]+$/.test(one) ? one : `'${one.replaceAll("'", "'\\''")}'`)
    .join(" ");
}
