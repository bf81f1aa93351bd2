import { asProblem, Problem, similarNames } from "../contract/mod.ts";
import type { HandlerParts } from "./_handler_parts.ts";
import { logFailure } from "./_operation_call.ts";
import { refuseUnknown, type UnknownRequest } from "./_unknown_request.ts";
import type { Sender } from "./auth.ts";
import { JSON_RPC } from "./json_rpc.ts";
import {
  JsonRpcError,
  type RequestHandlers,
  type ToolCall,
  type ToolDescription,
  type ToolResult,
} from "./requests.ts";
import { callTool, toErrorResult } from "./tool_call.ts";
import { takeView } from "./results/mod.ts";
import { findTool, type Tools } from "./tools.ts";

/** Longer names are similar to no tool's. */
const MAX_NAME_LENGTH = 100;

/** Creates the handlers of tools. @param tools selected by the client; the key's scope decides which of them it sees */
export function createToolHandlers<C>(
  { invoke, auth, log, makeSafe }: Omit<HandlerParts<C>, "onResourceChange">,
  tools: Tools<C>,
  sender: Sender,
): Pick<RequestHandlers, "listTools" | "callTool"> {
  const { caller } = sender;
  const listTools = () =>
    [...tools.values()].filter(({ scopes }) => scopes.includes(caller.scope))
      .map(({ description }) => description);

  async function refuse(call: ToolCall): Promise<ToolResult> {
    try {
      return await refuseUnknown(auth, sender, toUnknownRequest(call, listTools()));
    } catch (error) {
      if (error instanceof JsonRpcError) throw error;
      return toErrorResult(asProblem(error), call.requestId);
    }
  }

  return {
    listTools,
    async callTool(call) {
      const { requestId, markError } = call;
      const found = findTool(tools, call.name);
      if (!found || markError) return await refuse(call);
      const { name, tool } = found;
      const taken = takeView(tool.operation.input, call.input);
      if ("wrong" in taken) {
        return await refuse({ ...call, markError: { mark: "view", message: taken.wrong } });
      }
      const { view, input } = taken;
      return await callTool(tool, { ...call, name, input }, view, {
        tenant: caller.tenant,
        invoke,
        makeSafe,
        logFailure: (problem) => logFailure(log, name, requestId, problem),
      });
    },
  };
}

function toUnknownRequest(
  { name, markError }: ToolCall,
  tools: readonly ToolDescription[],
): UnknownRequest {
  const request = { method: "tools/call", name, code: JSON_RPC.invalidParams } as const;
  if (markError) {
    const { message } = markError;
    return { ...request, message, problem: new Problem("InvalidInput", message) };
  }
  const names = tools.map((tool) => tool.name);
  const [similar] = similarNames(name.slice(0, MAX_NAME_LENGTH), names);
  const advice = similar ? `did you mean ${similar}?` : "see tools/list";
  return { ...request, message: `Unknown tool: ${name}; ${advice}` };
}
