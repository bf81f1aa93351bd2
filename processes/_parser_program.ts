/**
 * Parses what strangers send, in a process of the pool of `integrations/strangers/`: two frames on its standard input ask
 * (kind and parameters, then the bytes), one on its standard output answers. The first one says that it is ready.
 */
import { readLogErrors, readLogLines, watchLogLines } from "../judgement/detection/mod.ts";
import { readAlerts } from "../integrations/alerts/mod.ts";
import { readMail } from "../integrations/mail/mod.ts";
import {
  type ParsedKind,
  type Parser,
  readFrames,
  Refused,
  writeFrame,
} from "../integrations/strangers/mod.ts";

const PARSERS: Readonly<Record<ParsedKind, Parser>> = {
  mail: readMail,
  alerts: readAlerts,
  log_lines: readLogLines,
  log_errors: readLogErrors,
  log_watch: watchLogLines,
};
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

const answer = (value: unknown) => writeFrame(process.stdout, Buffer.from(JSON.stringify(value)));
answer("ready");
const frames = readFrames(process.stdin, MAX_FRAME_BYTES);
for (;;) {
  const head = await frames.next();
  const body = await frames.next();
  if (head.done || body.done) break;
  const { kind, parameters } = JSON.parse(head.value.toString()) as {
    kind: ParsedKind;
    parameters: unknown;
  };
  try {
    answer({ value: await PARSERS[kind](body.value, parameters) });
  } catch (error) {
    const about = "It is built so that it can't be read";
    answer({
      refusal: error instanceof Refused ? error.refusal : { code: "malformed", about },
    });
  }
}
