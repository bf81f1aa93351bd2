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
