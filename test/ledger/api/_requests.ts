/** Requests to a public ledger. */
import { request } from "node:http";

/** Lists paths that everybody may read. @param id of a receipt */
export const publicPaths = (id: string): string[] => [
  "/api/stats",
  "/api/receipts",
  "/api/chain",
  "/api/health",
  "/api/how-to-verify",
  "/api/export",
  `/api/verify/${id}`,
  `/api/receipt/${id}`,
  "/checkpoint",
  `/api/log/inclusion/${id}`,
  "/api/log/consistency?from=1",
];

/** A response as it was sent. */
export interface RawResponse {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly body: Buffer;
}

/** Sends a request with an unchanged path, and does not decompress the response. */
export function getRaw(url: string, encoding = "identity"): Promise<RawResponse> {
  const [, host, port, path] = /^http:\/\/([^:]+):(\d+)(.*)$/s.exec(url)!;
  const options = {
    host,
    port,
    path: path!.replaceAll(/[ \\]/g, encodeURIComponent),
    headers: { "accept-encoding": encoding },
  };
  return new Promise((resolve, reject) => {
    request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status = 0, headers } = response;
      resolve({ status, encoding: headers["content-encoding"], body: Buffer.concat(chunks) });
    }).once("error", reject).end();
  });
}
