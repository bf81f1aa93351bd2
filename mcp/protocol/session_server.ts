/** Revisions with a handshake, up to 2025-11-25. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { z } from "zod";
import { parseMetadata } from "../../contract/mod.ts";
import type { RequestContext, RequestHandlers, RequestOrigin, ToolResult } from "../requests.ts";
import { withAbortReason } from "./_abort.ts";
import { CAPABILITIES, complete, createProgress } from "./_shared.ts";
import { createSubscriptions } from "./_subscriptions.ts";

/** Validates what clients' users fill in, which this server never asks for. Shared, as creating one is slow. */
const VALIDATOR = new AjvJsonSchemaValidator();

/** The SDK itself validates parameters of `tools/call`, as invalid params; a stricter schema here is an internal error. */
const CallTool = z.object({
  method: CallToolRequestSchema.shape.method,
  params: z.any().optional(),
});

/**
 * Creates a server for one client.
 *
 * In these revisions a client cancels by a notification; a lost connection cancels nothing.
 *
 * @param isClosed returns true once the connection has closed
 * @see MCP 2025-11-25, Transports, Sending Messages to the Server
 */
export function createSessionServer(handlers: RequestHandlers, isClosed: () => boolean): Server {
  const { name, version, instructions, reportError } = handlers;
  const server = new Server({ name, version }, {
    capabilities: CAPABILITIES,
    instructions,
    jsonSchemaValidator: VALIDATOR,
  });
  server.onerror = reportError;
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...handlers.listTools()] }));
  server.setRequestHandler(
    CallTool,
    async ({ params }, { signal, authInfo, sessionId, sendNotification }) => {
      const result = await handlers.callTool({
        ...(authInfo?.extra as unknown as RequestOrigin),
        name: params.name,
        input: params.arguments,
        ...parseMetadata(params._meta),
        signal: withAbortReason(signal, isClosed),
        progress: createProgress(params._meta?.progressToken, sendNotification, handlers),
      });
      const message = logMessageOf(params.name, result);
      if (message) server.sendLoggingMessage(message, sessionId).catch(reportError);
      return { ...result };
    },
  );
  handleResources(server, handlers);
  handlePrompts(server, handlers);
  return server;
}

function handleResources(server: Server, handlers: RequestHandlers): void {
  server.setRequestHandler(
    ListResourceTemplatesRequestSchema,
    () => ({ resourceTemplates: [...handlers.listTemplates()] }),
  );
  server.setRequestHandler(
    ListResourcesRequestSchema,
    async (_, extra) => ({ resources: [...await handlers.listResources(contextOf(extra))] }),
  );
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params }, extra) =>
      ({ ...await handlers.readResource(params.uri, contextOf(extra)) }) as never,
  );
  const subscriptions = createSubscriptions(
    handlers,
    (uri) => server.sendResourceUpdated({ uri }),
  );
  server.onclose = subscriptions.close;
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => subscriptions.add(params.uri));
  server.setRequestHandler(
    UnsubscribeRequestSchema,
    ({ params }) => subscriptions.remove(params.uri),
  );
}

function handlePrompts(server: Server, handlers: RequestHandlers): void {
  server.setRequestHandler(
    ListPromptsRequestSchema,
    () => ({ prompts: [...handlers.listPrompts()] }) as never,
  );
  server.setRequestHandler(
    GetPromptRequestSchema,
    async ({ params: { name, arguments: input } }, extra) =>
      ({ ...await handlers.getPrompt(name, input, contextOf(extra)) }) as never,
  );
  server.setRequestHandler(
    CompleteRequestSchema,
    ({ params }, extra) => complete(params, handlers, contextOf(extra)),
  );
}

const contextOf = (
  { authInfo, signal }: { authInfo?: { extra?: object }; signal: AbortSignal },
): RequestContext => ({ ...authInfo?.extra as RequestOrigin, signal });

/** Returns the log message for the client about a failed call. */
function logMessageOf(tool: string, { isError, _meta }: ToolResult) {
  if (!isError) return undefined;
  const { "sealoop/error": error, "sealoop/request_id": request_id } = _meta ?? {};
  const level = error === "Internal" ? "error" as const : "warning" as const;
  return { level, data: { tool, error, request_id } };
}
