/** Fork bombs: endless loops that start programs in the background, and functions that call themselves. */
import { forEachChild, type Function as ShellFunction, type SyntaxNode, type While } from "unbash";

/** Tells whether a loop starts programs without end: `while true; do … & done`. */
export function isForkLoop({ clause, body }: While): boolean {
  const [first] = clause.commands;
  const always = first?.command.type === "Command" &&
    /^(true|:)$/.test(first.command.name?.value ?? "");
  return always && body.commands.some(({ background }) => background === true);
}

/** Tells whether a function calls itself more than once, through a pipe, or in the background. */
export function isForkBomb({ name, body }: ShellFunction): boolean {
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
