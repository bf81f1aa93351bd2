/** Messages of clients, as calls of skills or as parts of a conversation. */
import type { SendMessageRequest } from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import { describeUnknownName, parseMetadata, type RequestMarks } from "../../contract/mod.ts";
import type { TaskPart } from "../../contract/domain/mod.ts";
import { MEDIA_TYPES } from "./card.ts";
import { contentTypeError, invalidParams } from "./errors.ts";
import type { ConversationMessage, SkillCall } from "./handlers.ts";

/** Maximum nesting of a part's data; the fields around it take the rest of the depth that the ledger seals. */
const MAX_DEPTH = 50;
/** Longest name that an error repeats. */
const MAX_NAME_LENGTH = 100;

/** Parses the skill call in a message. @returns undefined where it is a message of a conversation */
export function parseSkillCall(
  request: SendMessageRequest,
  skills: readonly string[],
): SkillCall | undefined {
  const calls = parseParts(request).flatMap((part) =>
    "data" in part && part.data.skill !== undefined ? [part.data] : []
  );
  if (calls.length === 0) return undefined;
  const { skill, arguments: input = {} } = calls[0]!;
  if (calls.length > 1) {
    throw invalidParams("A message calls one skill at most; send several messages");
  }
  if (typeof skill !== "string" || !skills.includes(skill)) {
    const name = String(skill).slice(0, MAX_NAME_LENGTH);
    throw invalidParams(
      describeUnknownName("skill", name, skills, "the agent card lists them"),
    );
  }
  const { taskId, messageId, contextId } = request.message!;
  if (taskId) throw invalidParams("A skill is called by itself, and not in a task");
  if (!messageId) throw invalidParams("message.messageId is required");
  return {
    skill,
    input: input ?? {},
    ...parseMarks(request),
    messageId,
    contextId: contextId || undefined,
  };
}

/** Parses a message of a conversation. */
export function parseConversationMessage(request: SendMessageRequest): ConversationMessage {
  const { message } = request;
  const parts = parseParts(request);
  if (!message?.messageId) throw invalidParams("message.messageId is required");
  if (parts.length === 0) throw invalidParams("message.parts must not be empty");
  return {
    message_id: message.messageId,
    ...(message.taskId ? { task_id: message.taskId } : {}),
    ...(message.contextId ? { context_id: message.contextId } : {}),
    parts,
    ...parseMarks(request),
  };
}

function parseParts({ message, configuration }: SendMessageRequest): TaskPart[] {
  const wanted = configuration?.acceptedOutputModes ?? [];
  if (wanted.length > 0 && !wanted.some(isSupportedType)) {
    throw contentTypeError(
      `answers are ${MEDIA_TYPES.join(" or ")}, and none of ${wanted.join(", ")}`,
    );
  }
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  return (message?.parts ?? []).map(({ content }, index) => {
    if (content?.$case === "text") return { text: content.value };
    if (content?.$case !== "data") {
      throw contentTypeError("files are not taken, only text and data parts");
    }
    const { value } = content;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw invalidParams("The data of a part has to be an object");
    }
    if (isDeeperThan(value, MAX_DEPTH)) {
      throw invalidParams(`params.message.parts.${index}: nested deeper than ${MAX_DEPTH} levels`);
    }
    return { data: value as Record<string, unknown> };
  });
}

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));

const isSupportedType = (type: string) =>
  type === "text" || type === "*/*" ||
  MEDIA_TYPES.some((own) => type === own || type === `${own.split("/")[0]}/*`);

/** Parses the marks in the metadata of the message or of the request. */
function parseMarks({ message, metadata }: SendMessageRequest): RequestMarks {
  const [own, whole] = [parseMetadata(message?.metadata), parseMetadata(metadata)];
  const error = own.markError ?? whole.markError;
  if (error) throw invalidParams(error.message);
  return { ...whole, ...own, dryRun: own.dryRun || whole.dryRun };
}
