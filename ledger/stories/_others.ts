/** Sentences about devices, publications, and the platform's own book-keeping. */
import type { Tell } from "./_tell.ts";
import { printDuration, sayCode } from "./_words.ts";
import { asCount, asText } from "./receipt.ts";

const command: Tell = ({ action, outcome, details }) => {
  const script = asText(details.script);
  const code = asText(details.code);
  const exit = asCount(details.exit_code);
  switch (action) {
    case "issued":
      return `A command was issued to a device${script ? `: the script ${script}` : ""}`;
    case "begun":
    case "started":
      return "The device began to run it";
    default:
      return `The command ended: ${sayCode(outcome)}${
        exit !== undefined ? `, exit code ${exit}` : code ? ` (${sayCode(code)})` : ""
      }`;
  }
};

const article: Tell = ({ category, action, outcome, details }) => {
  if (category === "article_intended") return "The approved page was to be published";
  if (category === "article_published") {
    return "The page was published, and read back byte for byte as it was approved";
  }
  if (action === "articles.erase") return "The page was taken off, as a person in it was erased";
  const code = asText(details.code);
  return `The article ended as ${sayCode(outcome)}${code ? ` (${sayCode(code)})` : ""}`;
};

const publishedFile: Tell = ({ details }) => {
  const type = asText(details.media_type).split("/")[0];
  const what =
    { video: "A film", audio: "A recording", image: "A picture", text: "Captions" }[type!];
  return `${what ?? "A file"} ${
    what === "Captions" ? "were" : "was"
  } published: the receipt has its SHA-256`;
};

const made: Tell = ({ action, outcome, details }) => {
  const what = {
    "voice.speak": "Speech",
    "voice.transcribe": "A transcript",
    "video.render": "A film",
  }[action] ?? "Media";
  const seconds = Number(details.seconds);
  const length = seconds > 0 ? `, ${printDuration(seconds * 1_000)} long` : "";
  return outcome === "done" ? `${what} was made${length}` : `${what}: ${sayCode(outcome)}`;
};

const item: Tell = ({ outcome }) => `Something to be published moved on: ${sayCode(outcome)}`;

const outside: Tell = ({ action, outcome }) =>
  outcome === "intended"
    ? `An act in another system was begun: ${action}`
    : `An act in another system ended: ${sayCode(outcome)}`;

const config: Tell = ({ subject, details }) => {
  const version = asCount(details.version) ?? asText(details.version);
  return `A setting changed: ${subject}${version === "" ? "" : `, version ${version}`} is in force`;
};

const sealedForOthers: Tell = () =>
  "A key holder had a statement of their own sealed. The ledger proves when, not that it is true";

const fixed = (text: string): Tell => () => text;

const published: Tell = ({ outcome, details }) => {
  const name = asText(details.name);
  return outcome === "public"
    ? `A service was named in public: ${name}`
    : "A service that was public was made private again";
};

const observed: Tell = ({ details }) => {
  const [probes, failed] = [asCount(details.probes), asCount(details.failed)];
  if (probes === undefined || failed === undefined) return undefined;
  return `A public service was looked at ${probes} times: ${
    failed === 0 ? "it was up each time" : `${failed} times it was not up`
  }`;
};

/** Sentences by category. */
export const OTHER_SENTENCES: Readonly<Record<string, Tell>> = {
  service_published: published,
  service_observed: observed,
  device_command: command,
  device_enrolled: fixed("A device was enrolled"),
  device_replaced: fixed("A device was enrolled again in place of itself"),
  device_quarantined: fixed("A device was put into quarantine"),
  device_released: fixed("A device was released from quarantine"),
  device_heartbeats: fixed("The devices' heartbeats were sealed, as one root"),
  device_discovery: fixed("The network was searched for devices"),
  data_egress: fixed("A device told that it was about to send data"),
  article_intended: article,
  article_published: article,
  article_ended: article,
  media_published: publishedFile,
  media_made: made,
  pipeline_item: item,
  post_written: fixed("A post was written"),
  outside_act: outside,
  config_change: config,
  runbook_change: fixed("The runbooks changed"),
  script_release: fixed("A script was released to devices"),
  key_issued: fixed("A key was issued"),
  key_replaced: fixed("A key was replaced by a new one"),
  key_revoked: fixed("A key was revoked"),
  session_opened: fixed("A person signed in"),
  passkey_enrolled: fixed("A person enrolled a passkey"),
  passkey_revoked: fixed("A passkey was revoked"),
  api_classification: fixed("A report was classified"),
  api_seal: sealedForOthers,
  model_call: ({ outcome }) => `A language model was asked: ${sayCode(outcome)}`,
  platform_scan: ({ outcome }) => `The platform was scanned: ${sayCode(outcome)}`,
  platform_health_check: ({ outcome }) => `The platform looked at itself: ${sayCode(outcome)}`,
  anchor_confirmed: fixed("Receipts were anchored in a Bitcoin block"),
  ledger_break: ({ outcome }) => `The scrub looked at a break of the chain: ${sayCode(outcome)}`,
  ledger_genesis: fixed("The ledger began"),
  ledger_adopted: fixed("A new key adopted the receipts before"),
  key_rotated: fixed("The ledger's signing key was rotated"),
  learning_receipt: fixed("The platform learned something, which people can look at"),
  tenant_created: fixed("An organization was added"),
};
