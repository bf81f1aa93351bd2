/** What requests must look like, which the SDK leaves to chance. */
import { z } from "zod";

const Id = z.string().min(1).max(200);
const Metadata = z.record(z.string(), z.unknown()).optional();
const Url = z.string().min(1).max(2_000);

/** Most parts of a message. */
const MOST_PARTS = 20;

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
  parts: z.array(Part).min(1).max(MOST_PARTS),
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

/** Methods of the protocol, and what each takes; undefined: nothing. */
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
  path.reduce((so: unknown, name) => Object(so)[name], params) === undefined;

/** What is wrong with the parameters, in a sentence; undefined: nothing. */
export function wrongParams(method: string, params: unknown): string | undefined {
  const shape = METHODS[method];
  if (!shape) return undefined;
  const { error } = shape.safeParse(params);
  const [issue] = error?.issues ?? [];
  if (issue && issue.code === "invalid_type" && isMissing(params, issue.path)) {
    return `Invalid params: ${["params", ...issue.path].join(".")}: Field required`;
  }
  return issue && `Invalid params: ${["params", ...issue.path].join(".")}: ${issue.message}`;
}

/** What the messages of protocol 1.0 hold, one in each part. */
const CONTENTS = ["text", "data", "raw", "url"];
const ROLES: readonly unknown[] = ["ROLE_USER", "ROLE_AGENT", 1, 2];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What is wrong with the message that a request of protocol 1.0 says, in a sentence; undefined: nothing. */
export function wrongMessage(method: string, params: unknown): string | undefined {
  if (method !== "SendMessage" && method !== "SendStreamingMessage") return undefined;
  const wrong = messageFault(Object(params).message);
  return wrong && `Invalid params: params.message${wrong}`;
}

function messageFault(message: unknown): string | undefined {
  if (!isObject(message)) return ": expected an object";
  const { role, parts, messageId = message.message_id } = message;
  if (!Id.safeParse(messageId).success) return ".messageId: expected 1 to 200 characters";
  if (!ROLES.includes(role)) return ".role: expected ROLE_USER";
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MOST_PARTS) {
    return `.parts: expected 1 to ${MOST_PARTS} parts`;
  }
  for (const [index, part] of parts.entries()) {
    const held = isObject(part) ? CONTENTS.filter((name) => (part[name] ?? null) !== null) : [];
    if (held.length !== 1) return `.parts.${index}: expected exactly one of ${CONTENTS.join(", ")}`;
    if (held[0] !== "data" && typeof part[held[0]!] !== "string") {
      return `.parts.${index}.${held[0]}: expected a string`;
    }
  }
  return undefined;
}
