import { parseJson } from "../runtime/web/mod.ts";

/**
 * Returns a message in which what means "nothing" is absent. Clients and their serializers send `null`, an empty text or an
 * empty array where the protocol wants an object or no field, and some send an object as its JSON text. None of it can
 * mean anything else.
 */
export function tidyMessage(message: object): object {
  if (Array.isArray(message)) {
    return message.map((one) => typeof one === "object" && one !== null ? tidyMessage(one) : one);
  }
  const { params, ...rest } = message as { method?: unknown; params?: unknown };
  if (typeof rest.method !== "string" || !("params" in message)) return message;
  if (isNothing(params)) return rest;
  return isObject(params) ? { ...rest, params: tidyParams(rest.method, params) } : message;
}

function tidyParams(method: string, params: Fields): Fields {
  const { _meta, arguments: input, ...others } = withoutNulls(params);
  return {
    ...others,
    ...(isObject(_meta) ? { _meta: withoutNulls(_meta) } : isNothing(_meta) ? {} : { _meta }),
    ...(isNothing(input) ? {} : { arguments: tidyArguments(method, input) }),
    ...(method === "initialize" ? { capabilities: params.capabilities ?? {} } : {}),
  };
}

function tidyArguments(method: string, input: unknown): unknown {
  const value = typeof input === "string" ? parseObject(input) ?? input : input;
  if (method !== "prompts/get" || !isObject(value)) return value;
  const texts = Object.entries(withoutNulls(value)).map(([name, one]) =>
    [name, typeof one === "number" || typeof one === "boolean" ? String(one) : one] as const
  );
  return Object.fromEntries(texts); // arguments of prompts are texts
}

/** Parses the JSON text of an object. @returns undefined where it is none */
function parseObject(text: string): Fields | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNothing = (value: unknown) =>
  value === undefined || value === null || value === "" ||
  Array.isArray(value) && value.length === 0;
const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
