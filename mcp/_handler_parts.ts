import type { ToolServerAuth } from "../calls/mod.ts";
import type { Invoke, Operation } from "../contract/mod.ts";
import type { Log } from "../runtime/web/mod.ts";
import type { ResourceChanges } from "./resource_changes.ts";
import type { MakeSafe } from "./untrusted.ts";

/** The parts that handlers work with. */
export interface HandlerParts<C> {
  readonly operations: readonly Operation<C>[];
  readonly invoke: Invoke<C>;
  /** Counts and seals requests that name no operation. */
  readonly auth: ToolServerAuth;
  readonly log: Log;
  readonly makeSafe: MakeSafe;
  readonly onResourceChange: ResourceChanges["listen"];
}
