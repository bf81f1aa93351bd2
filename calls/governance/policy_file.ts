/** Policies in files, with line numbers for errors. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { type GovernancePolicy, readGovernancePolicy } from "./policy.ts";

/** A policy, and the places of its parts in the file. */
export interface PolicyFile {
  readonly policy: GovernancePolicy;
  /** Returns line, rule and field at a path of the policy. */
  place(path: readonly PropertyKey[]): string;
}

/** Parses the text of a policy's file. @throws {Error} naming each mistake with its line and its rule */
export function readGovernanceFile(text: string): PolicyFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => `line ${lines.linePos(offset).line}`;
  const [error] = document.errors;
  if (error) throw new Error(`${lineAt(error.pos[0])}: ${error.message}`);
  const value: unknown = document.toJS();
  const place = (path: readonly PropertyKey[]) => {
    const [list, at, ...inRule] = path;
    const isRule = list === "rules" && typeof at === "number";
    const fields = (isRule ? inRule : path).filter((one) => typeof one !== "number").join(".");
    const rule = isRule ? `rule ${nameOfRule(value, at)}` : "";
    return [lineAt(offsetOf(document.contents, path)), rule, fields].filter(Boolean).join(": ");
  };
  return { policy: readGovernancePolicy(value, place), place };
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
