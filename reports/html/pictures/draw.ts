import type { Picture, PictureOf } from "../../document/pictures.ts";
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

const drawers: { readonly [Kind in Picture["is"]]: (picture: PictureOf<Kind>) => Child } = {
  densities,
  lanes,
  latency: latencyPicture,
  lifetimes,
  pairs,
  rate: ratePicture,
  schedule,
  spread: spreadPicture,
  steps: stepsPicture,
};

export const draw = (picture: Picture): Child => (drawers[picture.is] as (one: Picture) => Child)(picture);
