/** Policies in files, with line numbers for errors. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { BadFile } from "../../integrations/files/mod.ts";
import { checkGovernancePolicy, type GovernancePolicy } from "./policy.ts";

/** A policy, and the places of its parts in the file. */
export interface PolicyFile {
  readonly policy: GovernancePolicy;
  /** Returns line, rule and field at a path of the policy. */
  place(path: readonly PropertyKey[]): string;
}

/** Parses the text of a policy's file. @throws {BadFile} */
export function readGovernanceFile(text: string): PolicyFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number) => {
    const { line, col: column } = lines.linePos(offset);
    return { line, column };
  };
  const [error] = document.errors;
  if (error) {
    throw new BadFile([{ ...placeAt(error.pos[0]), text: error.message, open: error.message }]);
  }
  const value: unknown = document.toJS();
  const nameOf = (path: readonly PropertyKey[]) => {
    const [list, at, ...inRule] = path;
    const isRule = list === "rules" && typeof at === "number";
    const fields = (isRule ? inRule : path).filter((one) => typeof one !== "number").join(".");
    return [isRule ? `rule ${nameOfRule(value, at)}` : "", fields].filter(Boolean).join(": ");
  };
  const placeOf = (path: readonly PropertyKey[]) => placeAt(offsetOf(document.contents, path));
  const read = checkGovernancePolicy(value);
  if ("mistakes" in read) {
    throw new BadFile(read.mistakes.map(({ path, text, isOpen }) => ({
      ...placeOf(path),
      text: [nameOf(path), text].filter(Boolean).join(": "),
      ...(isOpen ? { open: text } : {}),
    })));
  }
  return {
    policy: read.policy,
    place: (path) => `line ${placeOf(path).line}: ${nameOf(path)}`,
  };
}

/** Returns the offset where a path ends, or its last part that exists; of a field the offset of its name. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  let offset = 0;
  for (const step of path) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && key.value === step)
      : undefined;
    const item = isSeq(node) ? node.items[Number(step)] : pair?.key;
    if (!isNode(item)) break;
    offset = item.range?.[0] ?? offset;
    node = pair ? pair.value : item;
  }
  return offset;
}

/** Returns a rule's name, or its number, counted from 1. */
function nameOfRule(policy: unknown, at: number): string {
  const { name } = (policy as { rules: readonly { name?: unknown }[] }).rules[at] ?? {};
  return typeof name === "string" ? name : String(at + 1);
}
