/** A local server can't be had or can't go on; the message is for the person who started it. */
export class EmbeddedError extends Error {
  override readonly name = "EmbeddedError";
}
