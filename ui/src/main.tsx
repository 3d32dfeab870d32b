import { render } from "preact";
import { App } from "./app";
import { refreshSession } from "./state";
import "./theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/components.css";
import "./styles/graph.css";

render(<App />, document.getElementById("app")!);
void refreshSession();
