import type { LookupAddress } from "node:dns";
import { WebSocket } from "ws";
import { isOneOf, MAX_HEADER_BYTES, pinnedLookup, toFailure, toResponse } from "./_exchange.ts";
import {
  type ConversationEnd,
  type OutboundConversation,
  OutboundFailed,
  OutboundRefused,
} from "./messages.ts";

const MAX_BYTES = 256 * 1024;

/** Opens a WebSocket to one of the addresses, and talks until there is a result. The connection is closed then. */
export function converse<Result>(
  url: URL,
  addresses: readonly LookupAddress[],
  conversation: Omit<OutboundConversation<Result>, "timeoutMs"> & { readonly signal: AbortSignal },
): Promise<ConversationEnd<Result>> {
  const { headers = {}, maxBytes = MAX_BYTES, receive, signal } = conversation;
  const socket = new WebSocket(url, {
    headers: { ...headers },
    lookup: pinnedLookup(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    maxPayload: maxBytes,
    perMessageDeflate: false, // a small message could become a large one
  });
  const talk = new Promise<ConversationEnd<Result>>((resolve, reject) => {
    let size = 0;
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
      reject(isTooLarge ? tooLarge(maxBytes) : toFailure(error));
    });
    socket.on("close", () => reject(new OutboundFailed("unreachable", "The server hung up")));
    socket.on("unexpected-response", (_, response) => {
      resolve({ response: toResponse(response, Buffer.alloc(0)) });
    });
    socket.on("upgrade", (response) => {
      if (isOneOf(addresses, response.socket)) return;
      reject(new OutboundRefused("address", "The connection went to another address"));
    });
    socket.on("message", (data) => {
      const message = data.toString();
      size += Buffer.byteLength(message);
      if (size > maxBytes) return reject(tooLarge(maxBytes));
      try {
        const result = receive(message, (text) => socket.send(text));
        if (result !== undefined) resolve({ result });
      } catch (error) {
        reject(error);
      }
    });
  });
  return talk.finally(() => socket.terminate());
}

function tooLarge(maxBytes: number): OutboundFailed {
  return new OutboundFailed("too_large", `The messages have more than ${maxBytes} bytes`);
}
