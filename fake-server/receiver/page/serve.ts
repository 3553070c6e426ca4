import { answerPage as answerOf } from "../../../web/page.ts";

/**
 * The live page of the receiver: files that hold no data. The page then asks the control interface, on its own
 * origin:
 *
 * - `GET /state` for the callback URL;
 * - `GET /pushes?after=N&wait=MS&limit=COUNT` for the lines, in order, `last` being the number of the newest
 *   line there is; a receiver that does not know `limit` may answer with more;
 * - `GET /journal` for the download.
 *
 * Where a token is needed these are asked with `Authorization: Bearer`; the page asks its reader for it.
 * The files themselves may be served without one: a browser cannot send it with a navigation.
 */
export const answerPage = answerOf({
  name: "page",
  source: new URL(".", import.meta.url),
  script: "browser/page.tsx",
  built: "receiver-page",
});
