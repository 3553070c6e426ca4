import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { iconSheet } from "../../html/icons.ts";
import { pictures } from "../../html/style-pictures.ts";
import type { LiveEvent } from "../protocol.ts";
import { Gate } from "./gate.tsx";
import { Load } from "./load.tsx";
import { after, nothing, type LiveState } from "./state.ts";
import { ThemeButton } from "../../../web/browser/theme.tsx";

type Link = "connecting" | "live" | "lost";

const words = (state: LiveState, link: Link): string => {
  if (state.ended) return state.hasReport ? "The report is being written" : "The run has ended";
  if (link === "lost") return "Touchstone has stopped; this is what arrived until then";
  return link === "live" ? "Live" : "Connecting";
};

const Page = ({ state, link }: { state: LiveState; link: Link }) => (
  <>
    <header>
      <h1>
        <img src="icon.svg" alt="" width="22" height="22" />
        Touchstone {state.gate?.target ?? state.load?.target ?? ""}
      </h1>
      <p id="connection" role="status" data-state={state.ended ? "ended" : link}>
        {words(state, link)}
      </p>
      <ThemeButton storageKey="touchstone-theme" />
    </header>
    {iconSheet()}
    <main>
      {state.gate === undefined && state.load === undefined && <p class="soft">Nothing recorded yet.</p>}
      {state.waiting !== "" && <p class="waiting">{state.waiting}</p>}
      {state.load !== undefined && <Load state={state} load={state.load} />}
      {state.gate !== undefined && <Gate state={state} gate={state.gate} />}
    </main>
  </>
);

const App = () => {
  const [state, setState] = useState(nothing);
  const [link, setLink] = useState<Link>("connecting");
  useEffect(() => {
    const source = new EventSource("/events");
    let pending: LiveEvent[] = [];
    let isAsked = false;
    const draw = (): void => {
      isAsked = false;
      const events = pending;
      pending = [];
      setState((before) => after(before, events));
    };
    source.addEventListener("open", () => {
      setState(nothing);
      setLink("live");
    });
    source.addEventListener("error", () => setLink("lost"));
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as LiveEvent;
      pending.push(event);
      if (event.kind === "end") {
        source.close();
        if (event.report) location.replace("/report");
      }
      // Draws once for many events.
      if (!isAsked) requestAnimationFrame(draw);
      isAsked = true;
    });
    return () => source.close();
  }, []);
  return <Page state={state} link={link} />;
};

// The pictures and their style come from the report.
const style = new CSSStyleSheet();
style.replaceSync(pictures);
document.adoptedStyleSheets = [style];
render(<App />, document.body);
