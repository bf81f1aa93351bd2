/** Revisions without a handshake and without sessions, from 2026-07-28. */
import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { parseMetadata } from "../../contract/mod.ts";
import { JsonRpcError, type RequestHandlers, type RequestOrigin } from "../requests.ts";
import { CAPABILITIES, complete, createProgress } from "./_shared.ts";

/**
 * Creates a server for one client.
 *
 * Over HTTP a client of these revisions cancels by closing the stream of the response; over a pipe it sends a
 * notification.
 *
 * @param origin returns the origin of the request under way
 * @param callSignal derives a call's signal from the SDK's
 * @see MCP 2026-07-28, Cancellation, Transport-Specific Cancellation
 */
export function createStatelessServer(
  handlers: RequestHandlers,
  origin: () => RequestOrigin,
  callSignal = (signal: AbortSignal) => signal,
): Server {
  const { name, version, instructions } = handlers;
  const server = new Server({ name, version }, { capabilities: CAPABILITIES, instructions });
  server.onerror = handlers.reportError;
  const contextOf = ({ mcpReq }: { mcpReq: { signal: AbortSignal } }) => ({
    ...origin(),
    signal: mcpReq.signal,
  });
  server.setRequestHandler("tools/list", () => ({ tools: [...handlers.listTools()] }));
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    return withProtocolErrors(handlers.callTool({
      ...origin(),
      name: params.name,
      input: params.arguments,
      ...parseMetadata(params._meta),
      signal: callSignal(mcpReq.signal),
      progress: createProgress(token, (notification) => mcpReq.notify(notification), handlers),
    }));
  });
  server.setRequestHandler(
    "resources/templates/list",
    () => ({ resourceTemplates: [...handlers.listTemplates()] }),
  );
  server.setRequestHandler("resources/list", (_, context) => {
    const listed = handlers.listResources(contextOf(context));
    return withProtocolErrors(listed.then((resources) => ({ resources: [...resources] })));
  });
  server.setRequestHandler(
    "resources/read",
    ({ params }, context) =>
      withProtocolErrors(handlers.readResource(params.uri, contextOf(context))),
  );
  server.setRequestHandler(
    "prompts/list",
    () => ({ prompts: [...handlers.listPrompts()] }) as never,
  );
  server.setRequestHandler(
    "prompts/get",
    ({ params: { name, arguments: input } }, context) =>
      withProtocolErrors(handlers.getPrompt(name, input, contextOf(context))),
  );
  server.setRequestHandler(
    "completion/complete",
    ({ params }, context) => withProtocolErrors(complete(params, handlers, contextOf(context))),
  );
  return server;
}

/** Converts {@linkcode JsonRpcError} to the SDK's own error. The SDK's result types are mutable, hence `never`. */
export async function withProtocolErrors(result: Promise<object>): Promise<never> {
  try {
    return await result as never;
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error;
    throw new ProtocolError(error.code, error.message, error.data);
  }
}
