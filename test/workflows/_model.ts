/** A language model of a test: a server of OpenAI's API, whose text the test decides. */
import { answerJson, serveProvider, WIRE_FORMATS } from "../judgement/engine/_providers.ts";
import type { Json } from "../mcp/_tool_server.ts";

/** A request to the model. */
export interface ModelRequest {
  /** `diagnosis`, `answer` or `plan`. */
  readonly task: string;
  /** The whole prompt. */
  readonly text: string;
  readonly schema: Json;
  /** Returns the number of the evidence that matches. */
  at(words: RegExp): number;
  /** Settles when the client has gone. */
  readonly gone: Promise<void>;
}

/** Returns the content of the response. A string is sent as it is; undefined: there is no response. */
export type ModelReply = (asked: ModelRequest) => unknown;

/** Name of the model. */
export const MODEL = "a-model-of-a-test";
const WIRE = WIRE_FORMATS.openai!;

/** Serves the model. @returns environment variables of a platform that uses it */
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
