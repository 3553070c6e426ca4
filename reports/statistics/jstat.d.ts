/** The jStat functions used here; the package has no types. */
declare module "jstat" {
  interface Distribution<Parameters extends readonly number[]> {
    cdf(x: number, ...parameters: Parameters): number;
    inv(probability: number, ...parameters: Parameters): number;
  }
  const jStat: {
    readonly studentt: Distribution<[degreesOfFreedom: number]>;
    readonly noncentralt: Pick<Distribution<[degreesOfFreedom: number, noncentrality: number]>, "cdf">;
  };
  export default jStat;
}
