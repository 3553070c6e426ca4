import type { VNode } from "preact";
import type { PictureOf } from "../../document/pictures.ts";
import { isVerdict } from "../../text/verdicts.ts";
import { el } from "../element.ts";
import { mark, toneMark } from "../icons.ts";

export const verdicts = ({ label, points }: PictureOf<"verdicts">): VNode =>
  el(
    "ul.verdicts",
    { "aria-label": label },
    points.map(({ name, verdict }) =>
      el(
        "li",
        { title: `${name}: ${verdict}` },
        isVerdict(verdict) ? mark(verdict) : toneMark("open", "question", verdict),
        el("span.heard", name),
      ),
    ),
  );
