import { type Invoke, PRODUCT, TOOL_SERVER_VERSION } from "../contract/mod.ts";
import type { Log } from "../web/mod.ts";
import type { Sender } from "./_caller.ts";
import { callTool } from "./call.ts";
import type { Handlers } from "./handlers.ts";
import type { Tools } from "./tools.ts";

/** What requests are answered with. */
export interface AnswerParts<C> {
  readonly invoke: Invoke<C>;
  readonly log: Log;
}

const INSTRUCTIONS =
  "Tools of an IT operations platform. Every call is sealed in a public ledger of receipts; its receipt's id is in " +
  "the result's _meta. An error says what to do next.";

/**
 * What answers the requests of one key, over every transport alike.
 *
 * @param tools those that the client chose; the key's scope decides which of them it sees
 */
export function answersFor<C>(
  { invoke, log }: AnswerParts<C>,
  tools: Tools<C>,
  { caller, credential }: Sender,
): Handlers {
  return {
    name: PRODUCT,
    version: TOOL_SERVER_VERSION,
    instructions: INSTRUCTIONS,
    list: () =>
      [...tools.values()].filter(({ scopes }) => scopes.includes(caller.scope))
        .map(({ description }) => description),
    call: (call) => {
      const tool = tools.get(call.name);
      return tool && callTool(tool, call, credential, invoke, (problem) => {
        const err = problem.extra.cause ?? problem;
        log.error({ request_id: call.requestId, tool: call.name, err }, problem.message);
      });
    },
    failed: (err) => log.warn({ key_id: caller.keyId, err }, "session"),
  };
}
