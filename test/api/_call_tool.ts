/** Calls of tools without a tool server. */
import { createInvoke, type Platform } from "../../calls/mod.ts";
import { operations } from "../../operations/mod.ts";

/** Calls a tool by a key, and returns its output, which its schema allows. */
export async function callTool(
  platform: Platform,
  credential: string,
  name: string,
  input: object = {},
  // deno-lint-ignore no-explicit-any -- the tests look into it
): Promise<any> {
  const operation = operations.find((one) => one.tool?.[name])!;
  const { output } = await createInvoke(platform)(operation, {
    door: "mcp",
    as: name,
    requestId: "r",
    credential,
    address: "127.0.0.1",
    input,
    signal: new AbortController().signal,
  });
  return operation.output.parse(output);
}
