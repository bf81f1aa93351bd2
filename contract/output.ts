import { z } from "zod";
import type { Text } from "./domain/mod.ts";

/**
 * A JSON value kept as its text, because printing it again would change its bytes (`1.0` would become `1`) or waste
 * time. Interfaces send the text unchanged.
 */
export class JsonText {
  #bytes?: Buffer;
  /** @param text one valid JSON value */
  constructor(readonly text: string) {}
  /** The text in UTF-8; encoded once, as the same text may be sent often. */
  get bytes(): Buffer {
    return this.#bytes ??= Buffer.from(this.text);
  }
  /** Parses the text, for uses where its exact bytes do not matter. */
  value(): unknown {
    return JSON.parse(this.text);
  }
}

/** A field of an output that may be a composed text: a string, over every interface. */
export const composedText = z.string() as z.ZodType<string> as z.ZodType<Text>;

/** An output of bytes, of the operation's `media` type. Interfaces send the bytes unchanged. */
export class FileOutput {
  /**
   * @param name that a client saves it under: only A-Z a-z 0-9 . _ -
   * @param headers of the response, besides
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly name: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** A server-sent event. One without `data` is a comment, which keeps the connection alive. */
export interface StreamEvent {
  /** Value that a client sends as `Last-Event-ID` when it connects again. */
  readonly id?: string;
  readonly event?: string;
  /** One line. */
  readonly data?: string;
}

/** An output that goes on: server-sent events, each read when the client has taken the ones before. */
export class EventStream {
  /** @param events ends when the call's signal is aborted */
  constructor(readonly events: AsyncIterable<StreamEvent>) {}
}

/** Returns the output as JSON text. */
export function outputText(output: unknown): string {
  return output instanceof JsonText ? output.text : JSON.stringify(output ?? null);
}

/** Returns the output as a value: of a {@linkcode JsonText} the parsed one. */
export function outputValue(output: unknown): unknown {
  return output instanceof JsonText ? output.value() : output;
}
