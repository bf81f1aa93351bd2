import { outputValue } from "../contract/mod.ts";
import type { HandlerParts } from "./_handler_parts.ts";
import type { OperationCall } from "./_operation_call.ts";
import { refuseUnknownRequest, type UnknownRequest } from "./_unknown_request.ts";
import type { Sender } from "./auth.ts";
import { JSON_RPC } from "./json_rpc.ts";
import type { PromptMessages, RequestHandlers } from "./requests.ts";
import type { Prompt } from "./resources.ts";
import { receiptMeta } from "./tool_call.ts";
import { describeUntrusted, type MakeSafe, untrustedMeta } from "./untrusted.ts";

/** Creates the handlers of prompts. */
export function createPromptHandlers<C>(
  { auth, makeSafe }: Pick<HandlerParts<C>, "auth" | "makeSafe">,
  prompts: ReadonlyMap<string, Prompt<C>>,
  sender: Sender,
  call: OperationCall<C>,
): Pick<RequestHandlers, "listPrompts" | "getPrompt"> {
  return {
    listPrompts: () =>
      [...prompts.values()].filter(({ scopes }) => scopes.includes(sender.caller.scope))
        .map(({ description }) => description),
    async getPrompt(name, input, context) {
      const prompt = prompts.get(name);
      if (!prompt) {
        return await refuseUnknownRequest(auth, sender, unknown(name), context.requestId);
      }
      const { output, receiptId } = await call(prompt.operation, name, input ?? {}, context);
      const { tenant } = sender.caller;
      const messages = await makePromptSafe(
        outputValue(output) as PromptMessages,
        tenant,
        makeSafe,
      );
      return { ...messages, _meta: { ...messages._meta, ...receiptMeta(receiptId) } };
    },
  };
}

/** Makes the resources that a prompt embeds safe for a model. The prompt's own words are the platform's. */
async function makePromptSafe(
  prompt: PromptMessages,
  tenant: string,
  makeSafe: MakeSafe,
): Promise<PromptMessages> {
  const embedded = prompt.messages.flatMap(({ content }) =>
    content.type === "resource" ? [content.resource] : []
  );
  if (embedded.length === 0) return prompt;
  const safe = await makeSafe(tenant, embedded.map(valueOf));
  const values = [...safe.value as readonly unknown[]];
  const messages = prompt.messages.map(({ role, content }) => {
    if (content.type !== "resource") return { role, content };
    const resource = { ...content.resource, text: textOf(values.shift()) };
    return { role, content: { ...content, resource } };
  });
  const notice = { type: "text", text: describeUntrusted(safe) } as const;
  return {
    description: prompt.description,
    messages: [...messages, { role: "user", content: notice }],
    _meta: untrustedMeta(safe),
  };
}

const textOf = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);

const valueOf = ({ mimeType, text }: { mimeType: string; text: string }): unknown =>
  mimeType === "application/json" ? JSON.parse(text) : text;

const unknown = (name: string): UnknownRequest => ({
  method: "prompts/get",
  name,
  code: JSON_RPC.invalidParams,
  message: `Unknown prompt: ${name}`,
});
