/** The page of governance: the stop, decisions, the policy with a trial of a changed one, and keys. */
import { render } from "preact";
import { GovernancePage } from "./governance/page.tsx";

render(<GovernancePage />, document.body);
