/** What grows without end: loops that start ever more, and functions that call themselves. */
import { forEachChild, type Function as ShellFunction, type SyntaxNode, type While } from "unbash";

/** `while true; do … & done` starts ever more. */
export function loopsForEver({ clause, body }: While): boolean {
  const [first] = clause.commands;
  const always = first?.command.type === "Command" &&
    /^(true|:)$/.test(first.command.name?.value ?? "");
  return always && body.commands.some(({ background }) => background === true);
}

/** A function that calls itself through a pipe or in the background grows without end. */
export function bombs({ name, body }: ShellFunction): boolean {
  let calls = 0;
  let spreads = false;
  const look = (node: SyntaxNode, depth: number): void => {
    if (depth > 12) return;
    if (node.type === "Pipeline" || node.type === "Statement" && node.background) spreads = true;
    if (node.type === "Command" && node.name?.value === name.value) calls++;
    forEachChild(node, (child) => look(child, depth + 1));
  };
  look(body, 0);
  return calls > 1 || calls === 1 && spreads;
}
