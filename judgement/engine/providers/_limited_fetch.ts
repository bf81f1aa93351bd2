/** The `fetch` that the providers' SDKs use: no redirects, and answers of limited size. */

/** Far more than the longest answer, with what the providers write around each word. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Settings of {@linkcode limitedFetch}. */
interface FetchOptions {
  /** For SDKs that take none. */
  readonly signal?: AbortSignal;
  /** Creates a stream that bodies of successful answers go through. */
  readonly through?: () => TransformStream<Uint8Array, Uint8Array>;
}

/** Creates it. A redirect is an error, as the key is for the configured address alone. */
export function limitedFetch({ signal, through }: FetchOptions = {}): typeof fetch {
  return async (address, init) => {
    const response = await fetch(address, {
      ...init,
      ...(signal ? { signal } : {}),
      redirect: "error",
    });
    if (!response.body) return response;
    let body = response.body.pipeThrough(limitBytes());
    if (through && response.ok) body = body.pipeThrough(through());
    return new Response(body, response);
  };
}

function limitBytes(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) controller.error(new Error("The answer is too large"));
      else controller.enqueue(chunk);
    },
  });
}

/** Creates a stream that fails at the first line which is no JSON. */
export function checkLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  const check = (line: string) => void (line.trim() === "" || JSON.parse(line));
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      lines.forEach(check);
      controller.enqueue(chunk);
    },
    flush: () => check(rest),
  });
}
