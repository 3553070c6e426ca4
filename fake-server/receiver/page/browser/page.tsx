import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { everything, select } from "../model/filter.ts";
import { progressOf } from "../model/progress.ts";
import type { Notification } from "../model/store.ts";
import { Details } from "./details.tsx";
import { Grid } from "./grid.tsx";
import { openSession, type Session } from "./session.ts";
import { Counts, Empty, Footer } from "./summary.tsx";
import { ThemeButton } from "../../../../web/browser/theme.tsx";
import { axisOf } from "./timeline.tsx";
import { FeedTools, rememberedSchedule, Tools } from "./tools.tsx";
import { Workbench } from "./workbench.tsx";

/** The token may come in the fragment, which browsers never send; it is removed from the address immediately. */
const takeToken = (): string => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  if (token !== "") history.replaceState(undefined, "", location.pathname);
  return token;
};

const CopyButton = ({ text }: { text: string }) => {
  const [words, setWords] = useState("Copy");
  // Browsers only offer the clipboard to pages from this machine or over HTTPS.
  if (!isSecureContext) return null;
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setWords("Copied"),
      () => setWords("Not allowed"),
    );
  };
  return (
    <button type="button" id="copy-callback" onClick={copy} onBlur={() => setWords("Copy")}>
      {words}
    </button>
  );
};

const Header = ({ session }: { session: Session }) => {
  const callbackUrl = session.callbackUrl();
  return (
    <header>
      <h1>
        <img src="icon.svg" alt="" width="22" height="22" />
        Touchstone receiver
      </h1>
      <p class="callback">
        <span class="label">Callback</span>
        <code id="callback">{callbackUrl || "…"}</code>
        <CopyButton text={callbackUrl} />
      </p>
      <p id="connection" class="connection" role="status" data-state={session.connection()}>
        {session.connectionWords()}
      </p>
      <FeedTools session={session} />
      <ThemeButton storageKey="touchstone.theme" />
    </header>
  );
};

const TokenForm = ({ onToken }: { onToken: (token: string) => void }) => {
  const [isTried, setTried] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    onToken(input.current?.value ?? "");
  };
  return (
    <form id="token-form" class="token" onSubmit={submit}>
      <label for="token">
        {isTried
          ? "This token was refused; the receiver requires its own"
          : "This receiver requires its token"}
      </label>
      <input id="token" type="password" autoComplete="off" required ref={input} />
      <button type="submit">Open</button>
    </form>
  );
};

const Page = ({ session }: { session: Session }) => {
  const [filter, setFilter] = useState(everything);
  const [schedule, setSchedule] = useState(rememberedSchedule);
  const [opened, setOpened] = useState<Notification>();
  const grid = useRef<HTMLDivElement>(null);
  const [store, version, nowMs] = [session.store(), session.version(), session.nowMs()];
  const rows = useMemo(() => select(store.notifications.values(), filter), [store, version, filter]);
  useEffect(() => setOpened(undefined), [store]);
  const progress = (notification: Notification) => progressOf(notification, schedule, nowMs);
  const close = (): void => {
    setOpened(undefined);
    grid.current?.focus();
  };
  return (
    <>
      <Header session={session} />
      <main>
        {session.connection() === "locked" && <TokenForm onToken={session.feed.setToken} />}
        <Tools
          rows={rows}
          filter={filter}
          onFilter={setFilter}
          schedule={schedule}
          onSchedule={setSchedule}
        />
        <Workbench session={session} />
        <Counts store={store} shown={rows.length} />
        <div class="work">
          <div class="list">
            <Grid
              rows={rows}
              progressOf={progress}
              axis={axisOf(schedule)}
              nowMs={nowMs}
              openKey={opened?.key}
              onOpen={setOpened}
              gridRef={grid}
            />
            {rows.length === 0 && (
              <Empty isFiltered={store.notifications.size > 0} callbackUrl={session.callbackUrl()} />
            )}
          </div>
          {opened !== undefined && (
            <Details
              key={opened.key}
              notification={opened}
              progress={progress(opened)}
              feed={session.feed}
              onClose={close}
              onAccount={(account) => setFilter({ ...filter, account })}
            />
          )}
        </div>
        <Footer store={store} />
      </main>
    </>
  );
};

const draw = (): void => render(<Page session={session} />, document.body);
const session = openSession(takeToken(), draw);
draw();
