/** Requests to servers that are not ours, their responses, and their failures. */

/** A request to a server that is not ours. */
export interface OutboundRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "HEAD" | "PATCH";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the name's resolution to the last byte, milliseconds, > 0; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum of bytes of the response's body, ≥ 0; default 256 KiB. */
  readonly maxBytes?: number;
  /** True: only the status is needed. The body is not read, and is empty. */
  readonly ignoreBody?: boolean;
  readonly signal?: AbortSignal;
}

/** A response. A redirect is a response like any other: it is not followed. */
export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A conversation over a WebSocket. */
export interface OutboundConversation<Result> {
  readonly headers?: Readonly<Record<string, string>>;
  /** From the name's resolution to the result, milliseconds, > 0; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum of bytes of all messages together, ≥ 0; default 256 KiB. */
  readonly maxBytes?: number;
  /**
   * Takes in a message.
   *
   * @param send sends one
   * @returns the result, which ends the conversation; undefined: it goes on
   */
  receive(message: string, send: (message: string) => void): Result | undefined;
}

/** Result of a conversation. A server that opens no WebSocket gives a response instead, without its body. */
export type ConversationEnd<Result> =
  | { readonly result: Result }
  | { readonly response: OutboundResponse };

/** A request was not sent, as it may not be. */
export class OutboundRefused extends Error {
  override readonly name = "OutboundRefused";
  /** @param code `scheme`, `credentials`, `address`, `plain_http` or `url` */
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** A request that failed. It may have reached the server. */
export class OutboundFailed extends Error {
  override readonly name = "OutboundFailed";
  /** @param code `unresolvable`, `unreachable`, `timeout`, `too_large`, `tls` or `protocol` */
  constructor(readonly code: string, message: string, options?: ErrorOptions) {
    super(message, options);
  }

  /** Code of the system's own error, such as `ECONNREFUSED`; undefined: there was none. */
  get systemCode(): string | undefined {
    const { code } = (this.cause ?? {}) as NodeJS.ErrnoException;
    return typeof code === "string" ? code : undefined;
  }
}
