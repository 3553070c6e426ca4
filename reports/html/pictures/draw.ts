import type { Picture } from "../../document/pictures.ts";
import type { Child } from "../element.ts";
import { densities } from "./densities.ts";
import { lanes } from "./lanes.ts";
import { latencyPicture } from "./latency.ts";
import { lifetimes } from "./lifetimes.ts";
import { pairs } from "./pairs.ts";
import { ratePicture } from "./rate.ts";
import { schedule } from "./schedule.ts";
import { spreadPicture } from "./spread.ts";
import { stepsPicture } from "./steps.ts";
import { trend } from "./trend.ts";
import { verdicts } from "./verdicts.ts";

type Drawers = { readonly [K in Picture["is"]]: (picture: Extract<Picture, { is: K }>) => Child };

const drawers: Drawers = {
  densities,
  lanes,
  latency: latencyPicture,
  lifetimes,
  pairs,
  rate: ratePicture,
  schedule,
  spread: spreadPicture,
  steps: stepsPicture,
  trend,
  verdicts,
};

export const draw = (picture: Picture): Child => (drawers[picture.is] as (one: Picture) => Child)(picture);
