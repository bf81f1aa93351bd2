/** The page of one incident, with the code that verifies its receipts. */
import { render } from "preact";
import { IncidentPage } from "./incident/page.tsx";

render(<IncidentPage />, document.body);
