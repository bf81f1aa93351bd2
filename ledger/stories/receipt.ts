/** The public fields of a receipt that stories are told from. Fields that have another form are empty. */
export interface StoryReceipt {
  readonly id: string;
  readonly position: number;
  /** As the receipt says it. */
  readonly timestamp: string;
  readonly category: string;
  readonly actor: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  /** Text that a person published with the request. */
  readonly humanInput: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const NAME = /^(?:[A-Z]{2,5}-[0-9a-f]{12}|key:[0-9a-f]{16})$/;

/** Returns whether a text is an id that receipts are found by: `INC-…`, `APR-…`, `key:…`. */
export const isName = (text: string): boolean => NAME.test(text);

/** Reads a record. One that can't be read has empty fields, and its story says so. */
export function readStoryReceipt(record: string, position: number): StoryReceipt {
  const fields = parseObject(record);
  const text = (name: string) => asText(fields[name]);
  return {
    position,
    id: text("id"),
    timestamp: text("timestamp"),
    category: text("category"),
    actor: text("actor"),
    subject: text("subject"),
    action: text("action"),
    outcome: text("outcome"),
    humanInput: text("human_input"),
    details: asObject(fields.details),
  };
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(json));
  } catch {
    return {};
  }
}

/** Returns a value that is an object; else one without fields. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}

/** Returns a value that is a list; else an empty one. */
export const asList = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : [];

/** Returns a value that is a text; else an empty one. */
export const asText = (value: unknown): string => typeof value === "string" ? value : "";

/** Returns a value that is a whole number from 0; else undefined. */
export const asCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;

/** Returns the ids that a receipt names, each once, in their order. */
export function namesIn({ actor, subject, details }: StoryReceipt): string[] {
  const names = new Set<string>();
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === "string") {
      if (isName(value)) names.add(value);
    } else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
      for (const inner of Object.values(value)) visit(inner, depth + 1);
    }
  };
  for (const value of [subject, actor, details]) visit(value, 0);
  return [...names].slice(0, MAX_NAMES);
}

const MAX_DEPTH = 6;
const MAX_NAMES = 20;
