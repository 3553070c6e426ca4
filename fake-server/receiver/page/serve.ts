import { answerPage as answerOf } from "../../../web/page.ts";

/**
 * The live page of the receiver: files that hold no data. The page then asks the control interface, on its
 * own
 * origin:
 *
 * - `GET /state` for the callback URL;
 * - `GET /pushes?after=N&wait=MS&limit=COUNT` for the lines, in order, with `last`, the number of the newest
 * line;
 * a receiver without `limit` may answer with more;
 * - `GET /journal` for the download.
 *
 * If a token is required, requests send it as `Authorization: Bearer`; the page asks its reader for it.
 * The files themselves may be served without one: a browser cannot send it with a navigation.
 */
export const answerPage = answerOf({
  name: "page",
  source: new URL(".", import.meta.url),
  script: "browser/page.tsx",
  built: "receiver-page",
});
