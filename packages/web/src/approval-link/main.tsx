/** Starts the page of one decision. It knows no session: the link is all it needs. */
import { render } from "preact";
import { followTheme } from "../state/preferences.ts";
import "../style/base.css";
import "../style/work.css";
import { ApprovalLinkView } from "./approval-link-view.tsx";
import "./approval-link.css";
import { readLink } from "./link.ts";

followTheme();
const root = document.getElementById("app");
if (root) render(<ApprovalLinkView link={readLink(location.hash)} />, root);
