/** A language model of a test: a server that speaks OpenAI's language, and says what the test has it say. */
import { answerJson, serveProvider, WIRE_FORMATS } from "../engine/_providers.ts";
import type { Json } from "../mcp/_tool_server.ts";

/** What it was asked. */
export interface ModelRequest {
  /** What is to be written: `diagnose`, `answer`. */
  readonly task: string;
  /** All of the prompt. */
  readonly text: string;
  readonly schema: Json;
  /** Number of the piece of evidence that these words are in. */
  at(words: RegExp): number;
  /** Settles when whoever asked has gone. */
  readonly gone: Promise<void>;
}

/** What it says; a text is sent as it is, undefined never. */
export type ModelReply = (asked: ModelRequest) => unknown;

/** Its name. */
export const MODEL = "a-model-of-a-test";
const WIRE = WIRE_FORMATS.openai!;

/** Serves one. @returns settings by the names of environment variables */
export async function serveModel(says: ModelReply): Promise<Record<string, string>> {
  const url = await serveProvider((_, answer, body) => {
    const gone = new Promise<void>((resolve) => answer.once("close", () => resolve()));
    const request = JSON.parse(body);
    const text = WIRE.readPrompt(request);
    const at = (words: RegExp) => {
      const line = text.split("\n").find((line) => /^\d+\. \(/.test(line) && words.test(line));
      if (line === undefined) throw new Error(`No evidence has ${words}:\n${text}`);
      return Number(line.split(".")[0]);
    };
    const task = request.response_format.json_schema.name;
    const said = says({ task, text, schema: WIRE.readSchema(request), at, gone });
    if (said === undefined) return;
    const put = WIRE.answerBody(said) as Json;
    if (typeof said === "string") put.choices[0].message.content = said;
    answerJson(answer, put);
  });
  return { ...WIRE.settings(url), SEALOOP_OPENAI_MODEL: MODEL };
}
