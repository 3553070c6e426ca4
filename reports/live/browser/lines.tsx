import { rate } from "../../text/units.ts";

interface Series {
  readonly name: string;
  readonly points: readonly (readonly [second: number, value: number])[];
}

const WIDTH = 1_000;
const HEIGHT = 120;

/** Values over the seconds of a load. */
export const Lines = ({
  title,
  span,
  series,
}: {
  title: string;
  span: number;
  series: readonly Series[];
}) => {
  const highest = Math.max(1, ...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const at = ([second, value]: readonly [number, number]): string =>
    `${((second + 0.5) / span) * WIDTH},${HEIGHT - (value / highest) * (HEIGHT - 4) - 2}`;
  const latest = series.map(({ name, points }) => `${name} ${rate(points.at(-1)?.[1] ?? 0)}`).join(", ");
  return (
    <figure>
      <figcaption>
        {title} <span class="soft">up to {rate(highest)}</span>
        <span class="legend">
          {series.map(({ name }) => (
            <span key={name}>
              <i class={`key ${name}`} aria-hidden="true" />
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${latest}`}
      >
        {series.map(({ name, points }) => (
          <polyline key={name} class={`line ${name}`} points={points.map(at).join(" ")} />
        ))}
      </svg>
    </figure>
  );
};
