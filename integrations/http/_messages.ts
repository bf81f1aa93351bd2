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
