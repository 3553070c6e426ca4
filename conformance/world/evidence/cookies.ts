import { parseCookie } from "undici";
import { pathIn } from "../../contract/text.ts";
import { DAY_MS } from "../../contract/duration.ts";
import type { Answer, Request } from "../exchange.ts";

/** The cookies that the service has set in one case. They are sent only by requests that ask for it. */
export type Cookies = ReturnType<typeof createCookies>;

export const createCookies = () => {
  const kept = new Map<string, { readonly path: string; readonly pair: string }>();
  return {
    /** Keeps what an answer sets, and drops what it deletes (RFC 6265 section 5.3). */
    keep: ({ path }: Pick<Request, "path">, { headers }: Pick<Answer, "headers">): void => {
      for (const [name, value] of headers) {
        const cookie = name === "set-cookie" ? parseCookie(value) : null;
        if (cookie === null || cookie.name === "") continue;
        const where = cookie.path?.startsWith("/") === true ? cookie.path : directoryOf(path);
        if (isDeleted(cookie)) kept.delete(`${cookie.name};${where}`);
        else kept.set(`${cookie.name};${where}`, { path: where, pair: `${cookie.name}=${cookie.value}` });
      }
    },
    areSet: (): boolean => kept.size > 0,
    /** The headers with the cookies for this path, beside those that they hold already. */
    added: ({ path, headers }: Pick<Request, "path" | "headers">): Request["headers"] => {
      const own = headers.filter(([name]) => isCookie(name)).map(([, value]) => value);
      const sent = [...kept.values()].filter((cookie) => isWithin(pathIn(path), cookie.path));
      if (sent.length === 0) return headers;
      const all = [...own, ...sent.map(({ pair }) => pair)].join("; ");
      return [...headers.filter(([name]) => !isCookie(name)), ["cookie", all]];
    },
  };
};

const isCookie = (name: string): boolean => name.toLowerCase() === "cookie";

/** The clocks of service and client may differ, so only a date long past deletes a cookie, as all frameworks write it. */
const isDeleted = ({
  maxAge,
  expires,
}: {
  readonly maxAge?: number;
  readonly expires?: Date | number;
}): boolean => (maxAge !== undefined && maxAge <= 0) || (expires !== undefined && Number(expires) < DAY_MS);

/** The path of a cookie that names none (RFC 6265 section 5.1.4). */
const directoryOf = (path: string): string => pathIn(path).replace(/\/[^/]*$/, "") || "/";

const isWithin = (path: string, cookiePath: string): boolean =>
  path === cookiePath || path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`);
