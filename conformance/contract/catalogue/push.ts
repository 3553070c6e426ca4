import type { WrittenRequirement } from "../requirement.ts";

/** Sections 4.5 and 6: pushing notifications to the client's callback address. */
export const push = {
  "push.delivered": {
    level: "required",
    sections: ["4.5", "6"],
    sentence: "Every event arrives at the callback address as a POST with a JSON body.",
    judged:
      "A few dozen events are triggered, two of them for one account at the same moment. For each, a POST with JSON must reach the registered path of the instrumented receiver, and so must each retry. If the content type of first pushes declares JSON, that of retries must, too. Of the events that other rules trigger meanwhile, each must be pushed at least once, if its pushes can be told from others.",
  },
  "push.payload": {
    level: "required",
    sections: ["2.3", "2.4"],
    sentence:
      "A pushed body is a Notification: id and accountId UUID-shaped, createTime ISO 8601 UTC with milliseconds, the other fields strings.",
    judged:
      "Every push of the run is checked against the schema, and the id against the one the event's hook returned. Template and other fields are allowed and listed.",
  },
  "push.listed": {
    level: "required",
    sections: ["6"],
    sentence: "What was pushed can be read from the list of notifications, with the same fields.",
    judged:
      "Pushed notifications, both acknowledged and given up, are looked up by id, by account and in the whole list; each must be there with the pushed values, in the form of section 2.3. Some are looked up while their pushes are under way. The value of status is left out, as its transitions are not shown.",
  },
  "push.acknowledged-stops": {
    level: "required",
    sections: ["6"],
    sentence:
      "Once the expected code and the acknowledgement body were received, the notification is never pushed again.",
    judged:
      "Notifications whose first push was acknowledged are watched to the end, past the moment of a sixth push, and checked again up to thirty days later if time can be moved.",
  },
  "push.unacknowledged-retries": {
    level: "required",
    sections: ["6"],
    sentence: "Every kind of failure leads to another push.",
    judged:
      "Each kind of failure is tried on a notification of its own: 4xx, 5xx and 3xx answers, a refused connection, a reset, a connection closed before the answer, and no answer at all. So are answers with a failing status that are cut after their head, cut in their body, or never end. Some notifications fail in the same way each time, and must be pushed as often as all others. A missing push is a breach once it is overdue in every reading, allowing for lateness. A cut answer with the expected code counts as a failure only if the service reads the acknowledgement's body; with another 2xx it is not judged.",
  },
  "push.schedule": {
    level: "required",
    sections: ["6", "8"],
    sentence:
      "Failed pushes are retried with delays of 30 s, 60 s, 120 s and 240 s, each later push delayed further, and with at most five pushes in all.",
    judged:
      "For notifications that are never acknowledged, the moment of every push is compared with each reading, with delays counted from a push's start or from its failure. The rule holds if one reading with at most five pushes fits. A push is early if even the uncertainty of its moment cannot explain it. It is late if it is overdue by more than tolerances.latenessMs or 15 % of its delay, whichever is more.",
    readings: {
      R1: "the first at once, delays between pushes, five in all; with the document's delays at 0, 30, 90, 210 and 450 s",
      R2: "the first at once, delays from the first push, five in all; with the document's delays at 0, 30, 60, 120 and 240 s",
      R3: "the first is delayed too, delays between pushes; with the document's delays at 30, 90, 210, 450 and 930 s",
      R4: "the first is delayed too, delays from the event; with the document's delays at 30, 60, 120, 240 and 480 s",
      R5: "five pushes after the first, which breaks push.cap; with the document's delays at 0, 30, 90, 210, 450 and 930 s",
      R6: "the same with delays from the first push, which breaks push.cap; with the document's delays at 0, 30, 60, 120, 240 and 480 s",
      R7: "the same with no delay longer than the last one listed, which breaks push.cap; with the document's delays at 0, 30, 90, 210, 450 and 690 s",
      R8: "the first is delayed, and only the listed delays are used; with the document's delays at 30, 90, 210 and 450 s",
    },
  },
  "push.cap": {
    level: "required",
    sections: ["6", "8"],
    sentence: "No notification is pushed more than five times.",
    judged:
      "All pushes of each notification are counted until well past the moment of a sixth push in any reading, and again up to thirty days later if time can be moved.",
  },
  "push.late-acknowledgement": {
    level: "derived",
    sections: ["6"],
    sentence: "An acknowledgement of the n-th push ends the pushes of that notification, for every n.",
    derivation:
      "The acknowledgement tells whether a push was successful; nothing distinguishes the first push from a later one.",
    judged:
      "For each n from 1 to the maximum number of pushes, one notification is acknowledged at its n-th push and not earlier.",
  },
  "push.same-notification": {
    level: "derived",
    sections: ["6"],
    sentence: "All pushes of one notification carry the same id and the same body.",
    derivation:
      "A retry pushes the same notification, of which only the read status may have changed meanwhile.",
    judged:
      "The bodies of each notification's pushes are compared field by field: those of section 2.3 except status, which may change when the notification is read (section 3.3), and Template. Other fields that differ are listed.",
  },
  "push.independent-schedules": {
    level: "derived",
    sections: ["6", "8"],
    sentence: "Several notifications that fail at once each keep their own schedule and their own cap.",
    derivation:
      "Every event is to be delivered; with a shared cap or schedule, one event's failures would prevent another's pushes.",
    judged:
      "Many notifications fail concurrently, some triggered later, some in one account; each must be pushed as often as the others and at the same offsets from its own event.",
  },
  "push.no-head-of-line-blocking": {
    level: "advisory",
    sections: ["6"],
    sentence: "A receiver that leaves one push unanswered does not delay the pushes of other events.",
    clause: "good practice for senders; no standard requires it",
    judged:
      "While several pushes hang, other events are triggered; their first pushes may be late by no more than tolerances.latenessMs.",
  },
  "push.certificate-check": {
    level: "advisory",
    sections: ["4.5"],
    sentence: "The payload is not sent to a receiver whose certificate is not trusted.",
    clause: "RFC 9110 section 4.3.4, RFC 9525 section 6",
    judged:
      "For one event, the receiver presents a certificate of an unknown authority; no request may arrive until it presents its own again.",
  },
  "push.redirects": {
    level: "advisory",
    sections: ["4.5", "6"],
    sentence: "The payload is not sent on to the address that a redirect names.",
    clause: "OWASP ASVS 5.0 section 15.3 (outbound requests go to intended addresses only)",
    judged:
      "First pushes are answered with redirects to another path of the receiver; no request with a body may arrive there.",
  },
  "push.acknowledgement-body": {
    level: "unspecified",
    sections: ["2.4", "6"],
    sentence: "How an answer with the expected code but a wrong acknowledgement body counts.",
    judged:
      "First pushes are answered with the expected code and another id, received: false, nothing, something other than JSON, or wrong types; which of these notifications are pushed again is observed. The same goes for answers with a success code that are cut or never end.",
    readings: {
      "code alone decides": "a push is successful with the expected code, whatever the body says",
      "code and body decide": "a push is successful with the expected code and the acknowledgement of its id",
    },
  },
  "push.accepted-codes": {
    level: "unspecified",
    sections: ["6"],
    sentence: "Which success codes count as the expected one.",
    judged:
      "First pushes are answered with 200, 201, 202, 204, 206 and 299; which are pushed again is observed.",
  },
  "push.sender-timeout": {
    level: "unspecified",
    sections: ["6"],
    sentence: "How long the service waits for the answer to a push.",
    judged: "Some pushes get no answer at all; when the service gives up on them is observed, in classes.",
  },
  "push.follows-redirects": {
    level: "unspecified",
    sections: ["6"],
    sentence: "Which redirects are followed, and with which method.",
    judged:
      "First pushes are answered with 301, 302, 303, 307 and 308; what arrives at the other path is observed.",
  },
  "push.order": {
    level: "unspecified",
    sections: ["6"],
    sentence: "Whether a later event of an account waits for an earlier one that fails.",
    judged:
      "In one account an event is triggered while another one fails; which is pushed first is observed.",
  },
  "push.headers": {
    level: "unspecified",
    sections: ["4.5"],
    sentence: "Which headers a push carries, and which fields it has beyond those of a Notification.",
    judged: "Header names, the content type and additional fields of the bodies are observed.",
  },
} as const satisfies Record<string, WrittenRequirement>;
