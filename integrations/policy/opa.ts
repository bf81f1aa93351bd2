import { z } from "zod";
import type { Config } from "../../config.ts";
import { type Decision, DECISIONS } from "../../contract/domain/mod.ts";
import { findCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient } from "../remote/mod.ts";

/** A call as a policy of others sees it: `input` of the query. */
export interface PolicyQuestion {
  readonly operation: string;
  /** Every name by which rules may know it. */
  readonly names: readonly string[];
  readonly effect: string;
  readonly door: string;
  readonly environment: string;
  readonly key: { readonly id: string | null; readonly tier: string; readonly tenant: string };
  /** Without secrets. */
  readonly arguments: unknown;
  /** Decision of the platform's own rules. */
  readonly decision: Decision;
  readonly rule: string;
}

/** An opinion about a call. */
interface PolicyOpinion {
  readonly decision: Decision;
  readonly reasons: readonly string[];
  /** Id of the decision in the policy's own log; null: it keeps none. */
  readonly decisionId: string | null;
}

/** Gives a second opinion about calls. */
export interface PolicyAdviser {
  /** @throws {RemoteFailed} there is no opinion; treat as denied */
  ask(question: PolicyQuestion): Promise<PolicyOpinion>;
  /** Checks whether it would answer. @throws {RemoteFailed} */
  check(): Promise<void>;
  /** As a client's. */
  pause(): string | undefined;
}

const MAX_REASONS = 8;
const MAX_REASON_LENGTH = 200;

const Opinion = z.object({
  decision_id: z.string().max(100).optional(),
  result: z.union([
    z.boolean(),
    z.object({
      decision: z.enum(DECISIONS),
      reasons: z.array(z.string().max(MAX_REASON_LENGTH)).max(MAX_REASONS).default([]),
    }),
  ]).optional(),
});

/** Opens the client of an Open Policy Agent, if its URL is set. @see https://www.openpolicyagent.org/docs/rest-api */
export function openPolicyAdviser(config: Config): PolicyAdviser | undefined {
  const { SEALOOP_OPA_URL: url, SEALOOP_OPA_PATH: path } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: "OPA",
    url,
    credential(): Record<string, string> {
      const token = findCredential(config, "opa");
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    },
  });
  return {
    ask: (question) => ask(client, path, question),
    check: () => client.read({ method: "GET", path: "/health" }),
    pause: client.pause,
  };
}

async function ask(
  client: RemoteClient,
  path: string,
  question: PolicyQuestion,
): Promise<PolicyOpinion> {
  const { result, decision_id } = await client.read({
    method: "POST",
    path: `/v1/data/${path}`,
    body: { input: question },
    answer: Opinion,
  });
  const decisionId = decision_id ?? null;
  if (result === undefined) {
    return { decision: "deny", reasons: ["The policy of OPA says nothing about it"], decisionId };
  }
  if (typeof result === "boolean") {
    return result
      ? { decision: "allow", reasons: [], decisionId }
      : { decision: "deny", reasons: ["The policy of OPA refuses it"], decisionId };
  }
  return { ...result, decisionId };
}
