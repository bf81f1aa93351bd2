import { z } from "zod";
import { Credential } from "./_credential_name.ts";
import { bodyOf, jsonRequest, type Notice, type NoticeRequest, titleOf } from "./_requests.ts";

/** A room of Matrix. */
export const Matrix = z.strictObject({
  server: z.url({ protocol: /^https?$/ }).describe("Address of the home server"),
  room: z.string().regex(/^![^\s/]+$/, "Expected an id of a room, as !abc:example.com"),
  credential: Credential.describe("Name of the credential that is the access token"),
});

/**
 * Returns the request that sends a message. A home server ignores a transaction id that it knows, so a repetition is not
 * shown twice.
 *
 * @see https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid
 */
export function matrixRequest(
  { server, room }: z.output<typeof Matrix>,
  token: string,
  notice: Notice,
): NoticeRequest {
  const path = `_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message`;
  const url = `${server.replace(/\/$/, "")}/${path}/${notice.id}`;
  const body = `${titleOf(notice)}\n${bodyOf(notice)}`;
  const headers = { authorization: `Bearer ${token}` };
  return jsonRequest(url, { msgtype: "m.text", body }, { method: "PUT", headers });
}
