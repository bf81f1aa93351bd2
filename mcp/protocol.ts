/**
 * The Model Context Protocol, as its SDKs speak it: revisions with a handshake by the first one (over SSE and over
 * Streamable HTTP), those without by the second. Nothing else of the house imports them, so that their next major
 * version is this file's work alone.
 */
import type { ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  type EventStore,
  WebStandardStreamableHTTPServerTransport as HttpTransport,
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import {
  CallToolRequestSchema,
  CancelledNotificationSchema,
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
import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryServerEventBus,
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  Server as CurrentServer,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { CallerGone, parseDryRun } from "../contract/mod.ts";
import { type Ask, type Handlers, type Origin, Refused, type ToolResult } from "./handlers.ts";

/** One client's open stream. */
export interface Channel {
  readonly id: string;
  /**
   * Takes in a message; what it leads to goes out on the stream.
   *
   * @throws {NotAMessage} it is none of JSON-RPC 2.0
   */
  receive(message: unknown, origin: Origin): Promise<void>;
  close(): Promise<void>;
}

/** A value is no JSON-RPC 2.0 message. */
export class NotAMessage extends Error {
  override readonly name = "NotAMessage";
  constructor() {
    super(
      'Not a JSON-RPC message: send one object with jsonrpc "2.0" and a method, or a response',
    );
  }
}

/**
 * Answers a request for the event stream. Its first event is `endpoint`, with the path of the session's messages.
 *
 * @param path that messages are posted to; the session's id is added as `sessionId`
 */
export async function openChannel(
  path: string,
  res: ServerResponse,
  handlers: Handlers,
): Promise<Channel> {
  const { server, connect } = serverOf(handlers);
  const transport = new SSEServerTransport(path, res);
  await connect(transport);
  return {
    id: transport.sessionId,
    async receive(message, origin) {
      try {
        await transport.handleMessage(message, { authInfo: carried(origin) });
      } catch {
        throw new NotAMessage();
      }
    },
    close: () => server.close(),
  };
}

/** An HTTP request to the one address of Streamable HTTP. */
export interface Exchange extends Origin {
  /** Without its body. */
  readonly request: Request;
  /** The body as a value; undefined where the method has none. */
  readonly body: unknown;
}

/** One client's session over Streamable HTTP, of a revision with a handshake. */
export interface HttpSession {
  answer(exchange: Exchange): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Opens a session, which is to be given the client's `initialize` next.
 *
 * @param id that the client has to send from then on; undefined for what lives no longer than one request
 * @param events remembers what was sent, so that a client can take up a stream that broke
 */
export async function openHttpSession(
  handlers: Handlers,
  { id, events, json = false }: { id?: string; events?: EventStore; json?: boolean },
): Promise<HttpSession> {
  const { server, connect } = serverOf(handlers);
  const transport = new HttpTransport({
    sessionIdGenerator: id === undefined ? undefined : () => id,
    enableJsonResponse: json,
    ...(events ? { eventStore: events } : {}),
  });
  await connect(transport);
  return {
    answer: ({ request, body, ...origin }) =>
      transport.handleRequest(request, { parsedBody: body, authInfo: carried(origin) }),
    close: () => server.close(),
  };
}

/** Clients of revisions without sessions and handshake. */
export interface CurrentClients {
  /** Whether this request is of such a revision, or at least of none with a handshake. */
  speak(exchange: Exchange): boolean;
  answer(exchange: Exchange, handlers: Handlers): Promise<Response>;
  /** Tells those who listen for it that a resource has changed. */
  changed(uri: string): void;
  /** Whether anybody listens. */
  listening(): boolean;
  /** Ends what they listen to. */
  close(): Promise<void>;
}

/** Starts to serve them. @param failed something went wrong that no answer can tell */
export function serveCurrentClients(failed: (error: Error) => void): CurrentClients {
  const bus = new InMemoryServerEventBus(failed);
  const { fetch, close } = createMcpHandler(
    ({ authInfo }) => {
      const { handlers, ...origin } = authInfo!.extra as unknown as Served;
      return currentServerOf(handlers, () => origin);
    },
    { legacy: "reject", onerror: failed, bus },
  );
  return {
    speak({ request: { method, headers }, body }) {
      const of = (name: string) => headers.get(name) ?? undefined;
      return classifyInboundRequest({
        httpMethod: method,
        protocolVersionHeader: of("mcp-protocol-version"),
        mcpMethodHeader: of("mcp-method"),
        mcpNameHeader: of("mcp-name"),
        body,
      }).kind !== "legacy";
    },
    answer({ request, body, ...origin }, handlers) {
      const parsedBody = withinReach(body, handlers);
      return fetch(request, { parsedBody, authInfo: carried({ ...origin, handlers }) });
    },
    changed: (uri) => bus.publish({ kind: "resource_updated", uri }),
    listening: () => bus.listenerCount > 0,
    close,
  };
}

/** A request to listen, to no more than the key reaches: what is left is what the client is told it listens to. */
function withinReach(body: unknown, handlers: Handlers): unknown {
  const { method, params } = body as { method?: string; params?: Listening };
  const wanted = params?.notifications?.resourceSubscriptions;
  if (method !== "subscriptions/listen" || !Array.isArray(wanted)) return body;
  const resourceSubscriptions = wanted.slice(0, MOST_SUBSCRIPTIONS).filter((uri) =>
    typeof uri === "string" && handlers.reaches(uri)
  );
  const notifications = { ...params!.notifications, resourceSubscriptions };
  return { ...body as object, params: { ...params, notifications } };
}

interface Listening {
  readonly notifications?: { readonly resourceSubscriptions?: readonly unknown[] };
}

/** A client at the other end of a pipe, of whatever revision. */
export interface Wire {
  /** Takes in a message of JSON-RPC 2.0. */
  take(message: object): void;
  close(): Promise<void>;
}

/** Starts to serve it. @param origin of the next request @param send is given what goes out */
export function serveWire(
  handlers: Handlers,
  origin: () => Origin,
  send: (message: object) => void,
): Wire {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => Promise.resolve(send(message)),
    close: () => Promise.resolve(transport.onclose?.()),
  };
  const { close } = serveStdio(({ era }) => {
    const server = currentServerOf(
      handlers,
      origin,
      (signal) => withReason(signal, () => !(signal.reason instanceof SdkError)),
    );
    const tell = (uri: string) => server.sendResourceUpdated({ uri });
    if (era === "modern") { // the SDK knows who listens to what
      server.onclose = handlers.onChange((uri) => void tell(uri).catch(handlers.failed));
      return server;
    }
    const subscribed = followChanges(handlers, tell);
    server.onclose = subscribed.end;
    const add = ({ params }: { params: { uri: string } }) =>
      told(Promise.resolve().then(() => subscribed.add(params.uri)));
    server.setRequestHandler("resources/subscribe", add);
    server.setRequestHandler(
      "resources/unsubscribe",
      ({ params }) => subscribed.remove(params.uri),
    );
    return server;
  }, { transport, onerror: handlers.failed });
  return {
    take: (message) => transport.onmessage?.(withinReach(message, handlers) as JSONRPCMessage),
    close,
  };
}

/** What a request of theirs is answered with. */
type Served = Origin & { readonly handlers: Handlers };

/** Parameters are checked by the SDK, which answers wrong ones as invalid params; ours would be an internal error. */
const CallTool = z.object({
  method: CallToolRequestSchema.shape.method,
  params: z.any().optional(),
});

/**
 * Up to revision 2025-11-25 a client says that it cancels; a connection that is lost cancels nothing.
 *
 * @see MCP 2025-11-25, Transports, Sending Messages to the Server
 */
function serverOf(handlers: Handlers) {
  const { name, version, instructions } = handlers;
  const server = new Server({ name, version }, {
    capabilities: CAPABILITIES,
    instructions,
    jsonSchemaValidator: VALIDATOR,
  });
  const calls = new Map<string | number, "wanted" | "cancelled">();
  async function connect(transport: Connected) {
    await server.connect(transport);
    const take = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if ("method" in message && message.method === "tools/call" && "id" in message) {
        calls.set(message.id, "wanted");
      }
      if ("method" in message && message.method === "notifications/cancelled") {
        const of = CancelledNotificationSchema.safeParse(message).data?.params.requestId;
        if (of !== undefined && calls.has(of)) calls.set(of, "cancelled");
      }
      take?.(message, extra);
    };
    const { send } = transport;
    transport.send = (message, options) => {
      if (!("method" in message) && "id" in message) calls.delete(message.id!);
      return send.call(transport, message, options);
    };
  }
  server.onerror = (error) => handlers.failed(error);
  offerResources(server, handlers);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...handlers.list()] }));
  server.setRequestHandler(
    CallTool,
    async ({ params }, { signal, requestId, authInfo, sessionId, sendNotification }) => {
      const token = params._meta?.progressToken;
      const isCancelled = () => calls.get(requestId) === "cancelled";
      const ended = await handlers.call({
        ...(authInfo?.extra as unknown as Origin),
        name: params.name,
        input: params.arguments,
        ...parseDryRun(params._meta),
        signal: withReason(signal, isCancelled),
        progress: teller(token, sendNotification, handlers),
      }).finally(() => calls.delete(requestId));
      const told = complaint(params.name, ended);
      if (told) server.sendLoggingMessage(told, sessionId).catch(handlers.failed);
      return { ...ended };
    },
  );
  return { server, connect };
}

type Connected = Parameters<Server["connect"]>[0];

/** The same signal, which says where it was not the caller who cancelled, but its connection that was lost. */
function withReason(signal: AbortSignal, isCancelled: () => boolean): AbortSignal {
  const own = new AbortController();
  const abort = () => own.abort(isCancelled() ? signal.reason : new CallerGone());
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return own.signal;
}

/** Of what users fill in, which nobody is asked for here; every server would make one, which most of its making takes. */
const VALIDATOR = new AjvJsonSchemaValidator();
const CAPABILITIES = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};
/** Most completions that an answer may have. @see MCP, Completion */
const MOST_COMPLETIONS = 100;

async function completed(
  { argument: { name, value } }: { argument: { name: string; value: string } },
  handlers: Handlers,
  ask: Ask,
) {
  const all = await handlers.complete(name, value, ask);
  const values = all.slice(0, MOST_COMPLETIONS);
  return { completion: { values, total: all.length, hasMore: values.length < all.length } };
}

/** What a client's log is told of a call that failed. */
function complaint(name: string, { isError, _meta }: ToolResult) {
  if (!isError) return undefined;
  const { "sealoop/error": error, "sealoop/request_id": request_id } = _meta ?? {};
  const level = error === "Internal" ? "error" as const : "warning" as const;
  return { level, data: { tool: name, error, request_id } };
}

/** What came with a request, for handlers of the first SDK. */
const askOf = (
  { authInfo, signal }: { authInfo?: { extra?: object }; signal: AbortSignal },
): Ask => ({
  ...(authInfo?.extra as Origin),
  signal,
});

/** Resources and prompts, by the first SDK. */
function offerResources(server: Server, handlers: Handlers): void {
  server.setRequestHandler(
    ListResourceTemplatesRequestSchema,
    () => ({ resourceTemplates: [...handlers.templates()] }),
  );
  server.setRequestHandler(
    ListResourcesRequestSchema,
    async (_, extra) => ({ resources: [...await handlers.resources(askOf(extra))] }),
  );
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params }, extra) => ({ ...await handlers.read(params.uri, askOf(extra)) }) as never,
  );
  server.setRequestHandler(
    ListPromptsRequestSchema,
    () => ({ prompts: [...handlers.prompts()] }) as never,
  );
  server.setRequestHandler(
    GetPromptRequestSchema,
    async ({ params }, extra) =>
      ({ ...await handlers.prompt(params.name, params.arguments, askOf(extra)) }) as never,
  );
  server.setRequestHandler(
    CompleteRequestSchema,
    ({ params }, extra) => completed(params, handlers, askOf(extra)),
  );
  const subscribed = followChanges(handlers, (uri) => server.sendResourceUpdated({ uri }));
  server.onclose = subscribed.end;
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => subscribed.add(params.uri));
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => subscribed.remove(params.uri));
}

/** Most resources that one client may be told of. */
const MOST_SUBSCRIPTIONS = 1_000;

/** What a client wants to be told of; nothing is listened to before it wants that. */
function followChanges(handlers: Handlers, tell: (uri: string) => Promise<void>) {
  const wanted = new Set<string>();
  let stop: (() => void) | undefined;
  return {
    add(uri: string) {
      if (!handlers.reaches(uri)) throw new Refused(-32002, `There is no resource ${uri}`, { uri });
      if (wanted.size >= MOST_SUBSCRIPTIONS) {
        throw new Refused(-32000, `At most ${MOST_SUBSCRIPTIONS} subscriptions; give one up first`);
      }
      wanted.add(uri);
      stop ??= handlers.onChange((changed) => {
        if (wanted.has(changed)) tell(changed).catch(handlers.failed);
      });
      return {};
    },
    remove(uri: string) {
      wanted.delete(uri);
      return {};
    },
    end: () => stop?.(),
  };
}

/**
 * Over HTTP a client of a revision without sessions cancels by closing the stream of the answer; over a pipe it says so.
 *
 * @see MCP 2026-07-28, Cancellation, Transport-Specific Cancellation
 */
function currentServerOf(
  handlers: Handlers,
  origin: () => Origin,
  heard = (signal: AbortSignal) => signal,
): CurrentServer {
  const { name, version, instructions } = handlers;
  const server = new CurrentServer({ name, version }, {
    capabilities: CAPABILITIES,
    instructions,
  });
  server.onerror = (error) => handlers.failed(error);
  const askOf = ({ mcpReq }: { mcpReq: { signal: AbortSignal } }) => ({
    ...origin(),
    signal: mcpReq.signal,
  });
  server.setRequestHandler(
    "resources/templates/list",
    () => ({ resourceTemplates: [...handlers.templates()] }),
  );
  server.setRequestHandler(
    "resources/list",
    (_, context) =>
      told(handlers.resources(askOf(context)).then((all) => ({ resources: [...all] }))),
  );
  server.setRequestHandler(
    "resources/read",
    ({ params }, context) => told(handlers.read(params.uri, askOf(context))),
  );
  server.setRequestHandler("prompts/list", () => ({ prompts: [...handlers.prompts()] }) as never);
  server.setRequestHandler(
    "prompts/get",
    ({ params }, context) => told(handlers.prompt(params.name, params.arguments, askOf(context))),
  );
  server.setRequestHandler(
    "completion/complete",
    ({ params }, context) => told(completed(params, handlers, askOf(context))),
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...handlers.list()] }));
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    told(handlers.call({
      ...origin(),
      name: params.name,
      input: params.arguments,
      ...parseDryRun(params._meta),
      signal: heard(mcpReq.signal),
      progress: teller(mcpReq._meta?.progressToken, (told) => mcpReq.notify(told), handlers),
    })));
  return server;
}

/** What was asked for, or why not, in the second SDK's own words. Its types want what may be changed. */
async function told(answer: Promise<object>): Promise<never> {
  try {
    return await answer as never;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new ProtocolError(error.code, error.message, error.data);
  }
}

/** Tells a call's progress, where the client gave a token for it. */
function teller(
  progressToken: string | number | undefined,
  notify: (told: {
    method: "notifications/progress";
    params: { progressToken: string | number; progress: number; total: number; message: string };
  }) => Promise<void>,
  { failed }: Handlers,
) {
  return (progress: number, total: number, message: string) => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress, total, message };
    notify({ method: "notifications/progress", params }).catch(failed);
  };
}

/** The SDKs hand on what came with a message in `authInfo` alone. No token goes in there. */
const carried = (extra: object) => ({
  token: "",
  clientId: "",
  scopes: [],
  extra: extra as Record<string, unknown>,
});
