import type { WrittenRequirement } from "../requirement.ts";

/** Sections 4.4 and 2.3: listing notifications. */
export const notifications = {
  "notifications.shape": {
    level: "required",
    sections: ["2.3", "4.4"],
    sentence:
      "The answer holds data, an array of Notification, and total, a number; id and accountId are UUID-shaped, createTime is ISO 8601 UTC with milliseconds, the other fields are strings.",
    judged:
      "Every item of the pages that this rule reads is checked against the schema, among them the page of the whole list with the greatest limit, and again late in the run if the profile can move the clock, with what other rules have created by then; further fields are allowed. If the timestamps agree with a clock that the profile can move, createTime is compared with the moment at which the run triggered the event. Some events are triggered around midnight at the end of a month and, if these are near enough, at the end of a year and after the change to summer time.",
  },
  "notifications.default-limit": {
    level: "required",
    sections: ["4.4", "8"],
    sentence: "Without limit, a page holds 10 items if more than 10 match.",
    judged:
      "Lists with more than 10 matches, filtered and not, on the first and on a later page, are read without a limit.",
  },
  "notifications.default-page": {
    level: "required",
    sections: ["4.4", "8"],
    sentence: "Without page, the answer is the same as with page=0, the first page.",
    judged:
      "The answers without page and with page=0 must be the same, and different from page=1, for generated limits and filters.",
  },
  "notifications.limit": {
    level: "required",
    sections: ["4.4"],
    sentence:
      "For every limit up to the service's maximum, a page holds that many items, or as many as remain.",
    judged:
      "Generated limits and pages are read; each page must hold min(limit, what remains) items. The maximum is found first.",
  },
  "notifications.pages-partition": {
    level: "derived",
    sections: ["4.4"],
    sentence:
      "While nothing is written, the pages for one limit do not overlap, together hold every match, and are the same each time they are read.",
    derivation:
      "Numbered pages divide the matching notifications among them, so each notification is on exactly one page.",
    judged:
      "All pages are read with generated limits. Together they must hold the known notifications, none twice; a second reading must give the same, and so must each filter.",
  },
  "notifications.total": {
    level: "required",
    sections: ["4.4"],
    sentence: "total is the number of matching notifications, whatever limit and page are.",
    judged: "Totals under generated limits, pages and filters are compared with the known number of matches.",
  },
  "notifications.filter-id": {
    level: "required",
    sections: ["4.4"],
    sentence: "The id filter returns exactly the notification with that id.",
    judged:
      "Ids that exist must give one item and total 1; ids that do not exist, prefixes and other near misses must give none.",
  },
  "notifications.filter-account": {
    level: "required",
    sections: ["4.4"],
    sentence: "The accountId filter returns exactly the notifications of that account.",
    judged:
      "All notifications of known accounts are read; accounts without any, prefixes and other near misses must give none.",
  },
  "notifications.filters-combine": {
    level: "required",
    sections: ["4.4"],
    sentence: "id and accountId together return what matches both, and total counts exactly that.",
    judged: "Matching and clashing pairs of id and accountId are read.",
  },
  "notifications.past-the-end": {
    level: "derived",
    sections: ["4.4"],
    sentence: "A page past the last one never repeats an item of an earlier page.",
    derivation: "Every item is on one page, so none is left for a page beyond the last one.",
    judged: "Pages from just past the end to far beyond it are read for generated limits.",
  },
  "notifications.under-writes": {
    level: "derived",
    sections: ["4.4"],
    sentence:
      "While notifications are created, totals stay within the possible range, no page holds an item twice, and reading all pages misses nothing that was there at the start.",
    derivation:
      "total and data describe the notifications that match; creating others cannot remove those that exist.",
    judged:
      "Reads run concurrently with events. total is at least the number visible before the request, and at most the number whose creation began before the answer came. Reading pages until one is empty shows everything that was visible at the start. A notification is visible once any list has shown it, or tolerances.visibilityMs after its event was acknowledged. From then on every list must show it, so an older answer from a cache breaks the rule.",
  },
  "notifications.invalid-paging": {
    level: "unspecified",
    sections: ["4.4"],
    sentence: "How 0, negative, fractional, huge, textual or repeated values of limit and page are answered.",
    judged: "One request of each kind is observed.",
  },
  "notifications.maximum-limit": {
    level: "unspecified",
    sections: ["8"],
    sentence: "The maximum limit, and how a higher one is answered.",
    judged: "Growing limits are read until one is cut or refused.",
  },
  "notifications.order": {
    level: "unspecified",
    sections: ["4.4"],
    sentence: "In which order notifications are listed.",
    judged:
      "The order of the items over all pages is compared with createTime and with the order of creation.",
  },
  "notifications.status-values": {
    level: "unspecified",
    sections: ["2.3", "3.3"],
    sentence: "Which values of status, businessType and businessStatus occur.",
    judged: "The values seen during the run are observed.",
  },
  "notifications.tenancy": {
    level: "unspecified",
    sections: ["4.4"],
    sentence: "Whether one client sees the notifications of another.",
    judged: "The same account is read with each client's token.",
  },
  "notifications.unknown-parameters": {
    level: "unspecified",
    sections: ["4.4"],
    sentence: "How an unknown query parameter is answered.",
    judged: "A request with one is compared with the same request without.",
  },
  "notifications.versioned-path": {
    level: "required",
    sections: ["9"],
    sentence:
      "The list is served under /open-api/v1/ and the OAuth endpoints under /open-api/oauth/ without a version.",
    judged: "The documented paths must serve.",
  },
} as const satisfies Record<string, WrittenRequirement>;
