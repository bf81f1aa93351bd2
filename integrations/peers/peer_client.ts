import { type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import type { Config } from "../../config.ts";
import type { PeerOutcome } from "../../contract/domain/mod.ts";
import { readCredential } from "../channels/mod.ts";
import { openHttpClient } from "../http/mod.ts";
import { fetchWithin, type LastExchange } from "./_fetch.ts";
import type { Peer } from "./peers_file.ts";

/** Statuses by which a server says that it has not taken a request. */
const REFUSALS = new Set([301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 413, 415, 422, 429]);
/** JSON-RPC's code of an error within the server, which may have done something before. */
const INTERNAL_ERROR = -32603;
const WORKING = new Set([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]);
const NEEDS_MORE = new Set([
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);
/** Longest text of a reply. */
const MAX_REPLY = 8_000;

/** A message to an agent of another organization. */
interface PeerText {
  readonly messageId: string;
  /** Same for all messages of a conversation. */
  readonly contextId: string;
  readonly text: string;
}

/** An agent's description of itself. */
export interface PeerCard {
  readonly name: string;
  readonly skills: readonly string[];
}

/** A connection to an agent of another organization, over A2A 0.3 or 1.0. */
export interface PeerClient {
  /** Reads its card. @throws it can't be reached, or its card can't be used */
  describe(): Promise<PeerCard>;
  /** Sends a message, in one attempt. It never throws for what the agent or the network does. */
  send(message: PeerText): Promise<PeerOutcome>;
  /** Reads a task. @throws it can't be read at the moment */
  readTask(taskId: string): Promise<PeerOutcome>;
}

/** Opens a connection; nothing is sent yet. @throws {BadCredential} its credential can't be read */
export function openPeer(config: Config, { url, credential }: Peer): PeerClient {
  const { settings } = config;
  const token = credential === undefined ? undefined : readCredential(config, credential);
  const http = openHttpClient({ allow: settings.SEALOOP_OUTBOUND_ALLOW });
  const last: LastExchange = {};
  const options = {
    fetchImpl: fetchWithin(http, url, token, last),
    legacyCompat: { enabled: true },
  };
  const cardResolver = new DefaultAgentCardResolver(options);
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options)],
    clientConfig: { polling: true },
    cardResolver,
  });

  return {
    async describe() {
      const { name, skills } = await cardResolver.resolve(url);
      return { name, skills: skills.map((skill) => skill.name || skill.id) };
    },
    async send({ messageId, contextId, text }) {
      let client: Client;
      try {
        client = await factory.createFromUrl(url);
      } catch {
        return { ...withoutReply(last), state: "not_done" }; // only its card was asked for
      }
      delete last.end;
      try {
        const parts = [{
          content: { $case: "text" as const, value: text },
          metadata: undefined,
          filename: "",
          mediaType: "text/plain",
        }];
        const message: Message = {
          messageId,
          contextId,
          taskId: "",
          role: Role.ROLE_USER,
          parts,
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
        };
        const request = { tenant: "", message, configuration: undefined, metadata: undefined };
        return replyOf(await client.sendMessage(request));
      } catch {
        return withoutReply(last);
      }
    },
    async readTask(id) {
      const client = await factory.createFromUrl(url);
      return replyOf(await client.getTask({ tenant: "", id, historyLength: 0 }));
    },
  };
}

function replyOf(reply: Message | Task): PeerOutcome {
  if (!("status" in reply)) return { state: "done", code: "message", text: textOf([reply]) };
  const state = reply.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
  const said = reply.status?.message ? [reply.status.message] : [];
  const code = TaskState[state].replace("TASK_STATE_", "").toLowerCase();
  return {
    state: "done",
    code,
    text: textOf(reply.artifacts) || textOf(said),
    ...(WORKING.has(state) ? { taskId: reply.id } : {}),
    ...(NEEDS_MORE.has(state) ? { needsMore: true } : {}),
  };
}

function textOf(sources: readonly Pick<Message, "parts">[]): string {
  return sources.flatMap(({ parts }) => parts)
    .flatMap(({ content }) => content?.$case === "text" ? [content.value] : [])
    .join("\n").slice(0, MAX_REPLY);
}

/** Tells by the last exchange what became of a message that has no reply. */
function withoutReply({ end }: LastExchange): PeerOutcome {
  if (!end) return { state: "not_done", code: "not_sent", text: "" };
  const { status, error, failure = "no_answer", notSent = false } = end;
  if (status === undefined) {
    return { state: notSent ? "not_done" : "unknown", code: failure, text: "" };
  }
  const isRefused = error === undefined ? REFUSALS.has(status) : error !== INTERNAL_ERROR;
  return {
    state: isRefused ? "not_done" : "unknown",
    code: error === undefined ? `status_${status}` : `error${error}`,
    text: "",
  };
}
