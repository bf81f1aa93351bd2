/**
 * Judges shell commands by what they would do. A command is parsed: through `sudo`, `bash -c`, pipes into shells, variables,
 * base64 and other interpreters, down to what it removes, stops, opens or sends.
 *
 * ```ts
 * checkCommand("echo cm0gLXJmIC8= | base64 -d | sh"); // It removes `/`: a whole part of the machine
 * ```
 * @module
 */
export { checkCommand, type CommandJudgement, judgeCommand } from "./_check_command.ts";
export { parsePrograms } from "./_programs.ts";
