/** What a message asks for. */
import type { SendMessageRequest } from "@a2a-js/sdk";
import type { TaskPart } from "../../domain/mod.ts";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import { parseDryRun } from "../../contract/mod.ts";
import type { Said, SkillCall } from "./answers.ts";
import { MODES } from "./card.ts";
import { contentType, invalid } from "./errors.ts";

/** The parts of a message that are understood here. @throws no media type that is */
function partsOf({ message, configuration }: SendMessageRequest): TaskPart[] {
  const wanted = configuration?.acceptedOutputModes ?? [];
  if (wanted.length > 0 && !wanted.some(isGiven)) {
    throw contentType(`answers are ${MODES.join(" or ")}, and none of ${wanted.join(", ")}`);
  }
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  return (message?.parts ?? []).map(({ content }, index) => {
    if (content?.$case === "text") return { text: content.value };
    if (content?.$case !== "data") {
      throw contentType("files are not taken, only text and data parts");
    }
    if (
      typeof content.value !== "object" || content.value === null || Array.isArray(content.value)
    ) {
      throw invalid("The data of a part has to be an object");
    }
    if (isDeeper(content.value, MOST_DEPTH)) {
      throw invalid(`params.message.parts.${index}: nested deeper than ${MOST_DEPTH} levels`);
    }
    return { data: content.value as Record<string, unknown> };
  });
}

/** Deepest nesting of what a part holds: with what is told around it, as much as the ledger seals. */
const MOST_DEPTH = 50;
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

const isGiven = (mode: string) =>
  mode === "text" ||
  MODES.some((ours) => mode === ours || mode === "*/*" || mode === `${ours.split("/")[0]}/*`);

/** What is said in it, where it is a conversation. */
export function saidOf(request: SendMessageRequest): Said {
  const { message } = request;
  const parts = partsOf(request);
  if (!message?.messageId) throw invalid("message.messageId is required");
  if (parts.length === 0) throw invalid("message.parts must not be empty");
  return {
    message_id: message.messageId,
    ...(message.taskId ? { task_id: message.taskId } : {}),
    ...(message.contextId ? { context_id: message.contextId } : {}),
    parts,
    dryRun: wantsDryRun(request),
  };
}

/** Under the name that MCP has it under, in the message's metadata or the request's. */
function wantsDryRun({ message, metadata }: SendMessageRequest): boolean {
  const wishes = [message?.metadata, metadata].map(parseDryRun);
  const wrong = wishes.find(({ dryRunError }) => dryRunError !== undefined);
  if (wrong) throw invalid(wrong.dryRunError!);
  return wishes.some(({ dryRun }) => dryRun);
}

/** The one call of a skill in a message; undefined: it is a conversation. */
export function skillOf(
  request: SendMessageRequest,
  has: (skill: string) => boolean,
): SkillCall | undefined {
  const calls = partsOf(request).flatMap((part) =>
    "data" in part && part.data.skill !== undefined ? [part.data] : []
  );
  if (calls.length === 0) return undefined;
  const { skill, arguments: input } = calls[0]!;
  if (calls.length > 1) throw invalid("A message calls one skill at most; send several messages");
  if (typeof skill !== "string" || !has(skill)) {
    throw invalid(`There is no skill ${skill}; the agent card lists them`);
  }
  if (request.message?.taskId) throw invalid("A skill is called by itself, and not in a task");
  const { messageId, contextId } = request.message!;
  if (!messageId) throw invalid("message.messageId is required");
  return {
    ...{ skill, input: input ?? {}, dryRun: wantsDryRun(request), messageId },
    contextId: contextId || undefined,
  };
}
