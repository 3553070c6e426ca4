/** The entries of a table that the command line names, all of them if it names none; with a wrong name none, and exit code 2. */
export const asked = <T>(
  what: string,
  table: Readonly<Record<string, T>>,
): readonly (readonly [name: string, value: T])[] => {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !Object.hasOwn(table, name));
  if (unknown.length === 0)
    return Object.entries(table).filter(([name]) => names.length === 0 || names.includes(name));
  process.stderr.write(
    `unknown ${what} ${unknown.join(", ")}; accepted are ${Object.keys(table).join(", ")}\n`,
  );
  process.exitCode = 2;
  return [];
};

/** Whether a variable, a list with commas, asks for this by its name or first words; without the variable, all is asked for. */
export const isAsked = (variable: string, name: string, byDefault?: string): boolean =>
  (process.env[variable] ?? byDefault)?.split(",").some((one) => `${name} `.startsWith(`${one} `)) ?? true;
