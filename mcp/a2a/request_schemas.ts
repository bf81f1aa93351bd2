/** The parameters of requests, which the SDK does not validate. */
import { z } from "zod";

const Id = z.string().min(1).max(200);
const Metadata = z.record(z.string(), z.unknown()).optional();
const Url = z.string().min(1).max(2_000);

/** Maximum of parts in a message. */
const MAX_PARTS = 20;

const Part = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string(), metadata: Metadata }),
  z.object({
    kind: z.literal("file"),
    file: z.union([z.object({ bytes: z.string() }), z.object({ uri: Url })]),
    metadata: Metadata,
  }),
  z.object({
    kind: z.literal("data"),
    data: z.record(z.string(), z.unknown()),
    metadata: Metadata,
  }),
]);

const Message = z.object({
  kind: z.literal("message").optional(),
  messageId: Id,
  role: z.enum(["user", "agent"]),
  parts: z.array(Part).min(1).max(MAX_PARTS),
  taskId: Id.optional(),
  contextId: Id.optional(),
  referenceTaskIds: z.array(Id).max(20).optional(),
  extensions: z.array(z.string()).max(20).optional(),
  metadata: Metadata,
});

const HistoryLength = z.number().int().min(0).optional();

const Send = z.object({
  message: Message,
  configuration: z.object({
    acceptedOutputModes: z.array(z.string()).optional(),
    blocking: z.boolean().optional(),
    historyLength: HistoryLength,
    pushNotificationConfig: z.looseObject({ url: Url }).optional(),
  }).optional(),
  metadata: Metadata,
});
const TaskId = z.object({ id: Id, metadata: Metadata });
const PushConfig = z.looseObject({});

/** Methods of version 0.3, each with the schema of its parameters; undefined: it takes none. */
export const METHODS: Readonly<Record<string, z.ZodType | undefined>> = {
  "message/send": Send,
  "message/stream": Send,
  "tasks/get": TaskId.extend({ historyLength: HistoryLength }),
  "tasks/cancel": TaskId,
  "tasks/resubscribe": TaskId,
  "tasks/pushNotificationConfig/set": PushConfig,
  "tasks/pushNotificationConfig/get": PushConfig,
  "tasks/pushNotificationConfig/list": PushConfig,
  "tasks/pushNotificationConfig/delete": PushConfig,
  "agent/getAuthenticatedExtendedCard": undefined,
};

const isMissing = (params: unknown, path: readonly PropertyKey[]) =>
  path.reduce((value: unknown, name) => Object(value)[name], params) === undefined;

/** Describes what is wrong with the parameters of a request. @returns undefined where they are valid */
export function describeWrongParams(method: string, params: unknown): string | undefined {
  const issue = METHODS[method]?.safeParse(params).error?.issues[0];
  if (!issue) return undefined;
  const isFieldMissing = issue.code === "invalid_type" && isMissing(params, issue.path);
  const reason = isFieldMissing ? "Field required" : issue.message;
  return `Invalid params: ${["params", ...issue.path].join(".")}: ${reason}`;
}

/** Kinds of content in messages of version 1.0, one in each part. */
const CONTENT_KINDS = ["text", "data", "raw", "url"];
const ROLES: readonly unknown[] = ["ROLE_USER", "ROLE_AGENT", 1, 2];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Describes what is wrong with the message in a request of version 1.0. @returns undefined where it is valid */
export function describeWrongMessage(method: string, params: unknown): string | undefined {
  if (method !== "SendMessage" && method !== "SendStreamingMessage") return undefined;
  const wrong = describeMessageFault(Object(params).message);
  return wrong && `Invalid params: params.message${wrong}`;
}

function describeMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return ": expected an object";
  const { role, parts, messageId = message.message_id } = message;
  if (!Id.safeParse(messageId).success) return ".messageId: expected 1 to 200 characters";
  if (!ROLES.includes(role)) return ".role: expected ROLE_USER";
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MAX_PARTS) {
    return `.parts: expected 1 to ${MAX_PARTS} parts`;
  }
  for (const [index, part] of parts.entries()) {
    const kinds = isObject(part)
      ? CONTENT_KINDS.filter((name) => (part[name] ?? null) !== null)
      : [];
    if (kinds.length !== 1) {
      return `.parts.${index}: expected exactly one of ${CONTENT_KINDS.join(", ")}`;
    }
    if (kinds[0] !== "data" && typeof part[kinds[0]!] !== "string") {
      return `.parts.${index}.${kinds[0]}: expected a string`;
    }
  }
  return undefined;
}
