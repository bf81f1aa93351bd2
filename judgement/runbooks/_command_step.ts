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
  const line = commandLineOf(command, commands);
  if (typeof line === "string") return notDone(line);
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
    act: { command: line, limits },
  });
  return toStepOutcome(outcome, command.expect);
}

/** Returns program and arguments of a command of the allow-list; or the code of why it can't be run. */
export function commandLineOf(
  { argv, user }: Pick<CommandAct, "argv" | "user">,
  commands: readonly AllowedCommand[],
): readonly string[] | string {
  const permission = checkCommand({ argv, user }, commands);
  if (!permission.allowed) return permission.code;
  if (SYSTEMD_PROGRAMS.has(argv[0]!) && !hasSystemd()) return "no_systemd";
  const prefix = user === undefined ? [] : userPrefix(user);
  return prefix ? [...prefix, permission.program, ...permission.args] : "no_such_user";
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
