/** A local server can't be started or can't continue. The message is for the person who started it. */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
}
