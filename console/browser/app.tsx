/** The pages of the console but an approval's, by their paths. */
import { render } from "preact";
import { ApprovalsPage } from "./pages/approvals.tsx";
import { IncidentPage } from "./pages/incident.tsx";
import { IncidentsPage } from "./pages/incidents.tsx";
import { NowPage } from "./pages/now.tsx";
import { SignInPage } from "./pages/sign_in.tsx";
import { YouPage } from "./pages/you.tsx";

const PAGES = {
  "/console": NowPage,
  "/console/sign-in": SignInPage,
  "/console/approvals": ApprovalsPage,
  "/console/incidents": IncidentsPage,
  "/console/you": YouPage,
};

const Found = PAGES[location.pathname as keyof typeof PAGES] ?? IncidentPage;
render(<Found />, document.body);
