/** The first line of k6's CSV. */
export const head =
  "metric_name,timestamp,metric_value,error_code,expected_response,name,status,extra_tags,metadata\n";
const startedAtMicro = 1_790_000_000_000_000;

/** A second of k6's rows at this rate: iterations of three requests. */
export const secondOfRows = (second: number, rate: number, random: () => number): string => {
  const rows: string[] = [];
  const iterations = Math.round(rate / 3);
  for (let at = 0; at < iterations; at += 1) {
    const micro = startedAtMicro + second * 1_000_000 + Math.floor((at * 1_000_000) / iterations);
    const lag = `lag=${(random() * 2).toFixed(1)}`;
    rows.push(`touchstone_arrival,${micro},0.500000,,,,,,${lag}`);
    for (const name of ["authorize", "exchange", "refresh"]) {
      const isRefused = name === "exchange" && at % 10 === 0;
      const tags = isRefused ? `1400,true,${name},400` : `,true,${name},200`;
      const row = (metric: string, value: number): string =>
        `${metric},${micro},${value.toFixed(6)},${tags},,${lag}`;
      rows.push(
        row("http_reqs", 1),
        row("http_req_duration", 4 * Math.exp(0.7 * gauss(random))),
        row("http_req_blocked", 0.01),
      );
      for (const rest of ["connecting", "tls_handshaking", "sending", "waiting", "receiving", "failed"])
        rows.push(row(`http_req_${rest}`, 0));
    }
    for (const what of ["code", "accessToken"])
      rows.push(
        `touchstone_issued,${micro},1.000000,,,,,what=${what},${lag}&digest=${hex(random)}${hex(random)}`,
      );
    rows.push(`touchstone_check,${micro},3.000000,,,,,rule=code.single-use,${lag}`);
    for (const own of ["data_sent", "data_received", "iteration_duration", "iterations"])
      rows.push(`${own},${micro},1.000000,,,,,,${lag}`);
  }
  rows.push(`vus,${startedAtMicro + (second + 1) * 1_000_000 - 1},20.000000,,,,,,`, "");
  return rows.join("\n");
};

/** Box and Muller (1958). */
const gauss = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const hex = (random: () => number): string =>
  Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");
