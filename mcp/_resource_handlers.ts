import { describeUnknownName, outputValue } from "../contract/mod.ts";
import type { HandlerParts } from "./_handler_parts.ts";
import { NO_RESOURCE, type OperationCall } from "./_operation_call.ts";
import { refuseUnknownRequest, type UnknownRequest } from "./_unknown_request.ts";
import type { Sender } from "./auth.ts";
import type { RequestContext, RequestHandlers, ResourceDescription } from "./requests.ts";
import { COMPLETED_ARGUMENTS, type Resource, RESOURCE_LIST } from "./resources.ts";
import { receiptMeta } from "./tool_call.ts";
import { describeUntrusted, untrustedMeta } from "./untrusted.ts";

type ResourceHandlers = Pick<
  RequestHandlers,
  "listTemplates" | "listResources" | "readResource" | "canRead" | "complete"
>;

/** Creates the handlers of resources, and of completions, which complete names of resources. */
export function createResourceHandlers<C>(
  { auth, makeSafe }: Pick<HandlerParts<C>, "auth" | "makeSafe">,
  resources: readonly Resource<C>[],
  sender: Sender,
  call: OperationCall<C>,
): ResourceHandlers {
  const reachable = resources.filter(({ scopes }) => scopes.includes(sender.caller.scope));
  const templates = reachable.filter(({ template }) => template.includes("{"));
  const single = reachable.filter(({ template }) =>
    !template.includes("{") && template !== RESOURCE_LIST
  );

  /** Reads the resource that lists others, such as the open tickets. */
  async function readList(context: RequestContext): Promise<readonly ResourceDescription[]> {
    const list = reachable.find(({ template }) => template === RESOURCE_LIST);
    if (!list) return [];
    const { output } = await call(list.operation, RESOURCE_LIST, {}, context);
    const { value } = await makeSafe(sender.caller.tenant, outputValue(output));
    return (value as { resources: readonly ResourceDescription[] }).resources;
  }

  return {
    listTemplates: () => templates.map(({ description }) => description),
    async listResources(context) {
      const described = single.map(({ template, description: { uriTemplate: _, ...rest } }) => ({
        uri: template,
        ...rest,
      }));
      return [...described, ...await readList(context)];
    },
    async readResource(uri, context) {
      const match = findResource(resources, uri); // in all of them: the call checks the scope, and seals a refusal
      if (!match) {
        return await refuseUnknownRequest(auth, sender, unknown(uri, reachable), context.requestId);
      }
      const { resource: { operation, template, description }, input } = match;
      const { output, receiptId } = await call(operation, template, input, context);
      const safe = await makeSafe(sender.caller.tenant, outputValue(output));
      const contents = [{ uri, mimeType: description.mimeType, text: safe.text }];
      if (!operation.presentation?.untrusted) return { contents, _meta: receiptMeta(receiptId) };
      contents.push({ uri, mimeType: "text/plain", text: describeUntrusted(safe) });
      return { contents, _meta: { ...receiptMeta(receiptId), ...untrustedMeta(safe) } };
    },
    canRead: (uri) => reachable.some((resource) => resource.parse(uri) !== undefined),
    async complete(name, prefix, context) {
      const uriStart = COMPLETED_ARGUMENTS.get(name);
      if (uriStart === undefined) return [];
      const matching = (await readList(context)).filter(({ uri }) => uri.startsWith(uriStart));
      return matching.map((resource) => resource.name)
        .filter((one) => one.toLowerCase().startsWith(prefix.toLowerCase()));
    },
  };
}

/** Longest URI that an error repeats. */
const MAX_URI_LENGTH = 200;

function findResource<C>(resources: readonly Resource<C>[], uri: string) {
  for (const resource of resources) {
    const input = resource.parse(uri);
    if (input) return { resource, input };
  }
  return undefined;
}

const unknown = (
  uri: string,
  reachable: readonly Pick<Resource<unknown>, "template">[],
): UnknownRequest => ({
  method: "resources/read",
  name: uri,
  code: NO_RESOURCE,
  message: describeUnknownName(
    "resource",
    uri.slice(0, MAX_URI_LENGTH),
    reachable.map(({ template }) => template),
    "list the templates",
  ),
  data: { uri },
});
