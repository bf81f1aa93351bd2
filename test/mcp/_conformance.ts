/** The tools, resources and prompts that MCP's conformance scenarios use, as far as this server can offer them. */
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, type Operation, Problem } from "../../contract/mod.ts";

const operation = defineOperation<Platform>();
const common = { group: "test", access: "key", effect: "read", summary: "For a scenario" } as const;
const Text = z.object({ text: z.string() });
const Prompt = z.looseObject({ messages: z.array(z.unknown()) });
const userMessage = (text: string) => ({
  role: "user" as const,
  content: { type: "text" as const, text },
});
const BOTH = ["full"] as const;

const text = (
  name: string,
  output: string,
  bindings: Pick<Operation<Platform>, "tool" | "presentation">,
) =>
  operation({
    ...common,
    ...bindings,
    name,
    input: z.object({}),
    output: Text,
    example: { input: {}, output: { text: output } },
    run: () => Promise.resolve({ text: output }),
  });

/** Their operations. */
export const fixtures: readonly Operation<Platform>[] = [
  text("test.simple", "This is a simple text response for testing.", {
    tool: { test_simple_text: BOTH },
  }),
  text("test.static", "This is the content of the static text resource.", {
    presentation: { resource: { "test://static-text": BOTH } },
  }),
  text("test.watched", "Watched.", {
    presentation: { resource: { "test://watched-resource": BOTH } },
  }),
  operation({
    ...common,
    name: "test.error",
    input: z.object({}),
    output: Text,
    tool: { test_error_handling: BOTH },
    example: { input: {}, output: { text: "" } },
    run: () =>
      Promise.reject(
        new Problem("Conflict", "This tool intentionally returns an error for testing"),
      ),
  }),
  operation({
    ...common,
    name: "test.progress",
    input: z.object({}),
    output: Text,
    tool: { test_tool_with_progress: BOTH },
    example: { input: {}, output: { text: "done" } },
    run: async (_, { progress }) => {
      for (const done of [0, 50, 100]) {
        progress(done, 100, `at ${done}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return { text: "done" };
    },
  }),
  operation({
    ...common,
    name: "test.template",
    input: z.object({ id: z.string() }),
    output: z.object({ id: z.string(), templateTest: z.boolean(), data: z.string() }),
    presentation: { resource: { "test://template/{id}/data": BOTH } },
    example: {
      input: { id: "1" },
      output: { id: "1", templateTest: true, data: "Data for ID: 1" },
    },
    run: ({ id }) => Promise.resolve({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }),
  operation({
    ...common,
    name: "test.prompt",
    input: z.object({}),
    output: Prompt,
    presentation: { prompt: { test_simple_prompt: BOTH } },
    example: { input: {}, output: { messages: [] } },
    run: () => Promise.resolve({ messages: [userMessage("This is a simple prompt for testing.")] }),
  }),
  operation({
    ...common,
    name: "test.prompt_arguments",
    input: z.object({ arg1: z.string(), arg2: z.string() }),
    output: Prompt,
    presentation: { prompt: { test_prompt_with_arguments: BOTH } },
    example: { input: { arg1: "a", arg2: "b" }, output: { messages: [] } },
    run: ({ arg1, arg2 }) =>
      Promise.resolve({
        messages: [userMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
      }),
  }),
  operation({
    ...common,
    name: "test.prompt_resource",
    input: z.object({ resourceUri: z.string() }),
    output: Prompt,
    presentation: { prompt: { test_prompt_with_embedded_resource: BOTH } },
    example: { input: { resourceUri: "test://a" }, output: { messages: [] } },
    run: ({ resourceUri: uri }) => {
      const resource = {
        uri,
        mimeType: "text/plain",
        text: "Embedded resource content for testing.",
      };
      return Promise.resolve({
        messages: [
          { role: "user", content: { type: "resource", resource } },
          userMessage("Please process the embedded resource above."),
        ],
      });
    },
  }),
];

/** Scenarios of features that are not offered: images, sound, bytes, questions to the client's user, and polling. */
export const NOT_OFFERED: readonly string[] = [
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-with-logging",
  "tools-call-sampling",
  "tools-call-elicitation",
  "json-schema-2020-12",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "resources-read-binary",
  "prompts-get-with-image",
  "server-sse-polling",
];
