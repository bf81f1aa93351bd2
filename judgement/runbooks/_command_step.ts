import { existsSync, readFileSync } from "node:fs";
import { actOnce, type ActOutcome, type Service } from "../../integrations/host/mod.ts";
import { type Act, notDone, type StepOutcome } from "./_outcome.ts";
import { bytes, seconds } from "./_units.ts";
import { checkCommand } from "./commands.ts";
import type { AllowedCommand, CommandAct, ResolvedStep } from "./schema.ts";

/** Programs that ask systemd to do something. */
const SYSTEMD_PROGRAMS = new Set([
  "systemctl",
  "resolvectl",
  "timedatectl",
  "systemd-tmpfiles",
]);

/** Runs a command of the allow-list once, within its bounds. */
export async function runCommand(
  command: CommandAct,
  { cpu, memory, file_size }: ResolvedStep["bounds"],
  { dataDir, effectId, withinMs: timeoutMs }: Act,
  { commands, service }: {
    readonly commands: readonly AllowedCommand[];
    readonly service: Pick<Service, "name">;
  },
): Promise<StepOutcome> {
  const permission = checkCommand(command, commands);
  if (!permission.allowed) return notDone(permission.code);
  const [name] = command.argv;
  if (SYSTEMD_PROGRAMS.has(name!) && !hasSystemd()) return notDone("no_systemd");
  const prefix = command.user === undefined ? [] : userPrefix(command.user);
  if (!prefix) return notDone("no_such_user");
  const limits = {
    cpu: cpu === undefined ? undefined : seconds(cpu),
    memory: memory === undefined ? undefined : bytes(memory),
    fileSize: file_size === undefined ? undefined : bytes(file_size),
  };
  const outcome = await actOnce({
    dataDir,
    effectId,
    service: service.name,
    timeoutMs,
    act: { command: [...prefix, permission.program, ...permission.args], limits },
  });
  return toStepOutcome(outcome, command.expect);
}

/** Returns the command that runs another as a user; undefined: there is no such user, or this process may not. */
function userPrefix(user: string): string[] | undefined {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${user}:`))?.split(":") ?? [];
  if (uid === undefined || process.getuid?.() !== 0) return undefined;
  return ["/usr/bin/setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
}

/** @see sd_booted(3) */
export function hasSystemd(): boolean {
  return existsSync("/run/systemd/system");
}

/** Adds whether the end is a good one: a command that ended as expected, or a process that goes on. */
export function toStepOutcome(
  { state, code }: ActOutcome,
  expect: readonly number[] = [0],
): StepOutcome {
  const asExpected = code === "started" || expect.some((exit) => code === `exit_${exit}`);
  return { state, code, ok: state === "done" && asExpected };
}
